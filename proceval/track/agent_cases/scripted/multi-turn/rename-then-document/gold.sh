case $1 in
  1) sed -i 's/UPLOAD_LIMIT/UPLOAD_MEGABYTES/' app/*.py; echo 'Renamed in app/limits.py.' ;;
  2) sed -i 's/is 100 (see `app\/config.py`)/is 240 (see `app\/limits.py`)/' README.md; echo 'It said 100.' ;;
esac
