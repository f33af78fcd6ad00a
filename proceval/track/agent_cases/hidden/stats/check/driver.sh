python3 -m stats median 3 1 2 | sed 's/\.0$//'
python3 -m stats mean 1 2
python3 -m stats median 2>&1 > /dev/null; echo "status $?"
python3 -m stats mean 2> /dev/null; echo "status $?"
