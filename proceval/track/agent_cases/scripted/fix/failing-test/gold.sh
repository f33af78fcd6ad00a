sed -i 's/return a - b/return a + b/' lib/calc.py
echo 'The function add subtracted; it adds now.'
