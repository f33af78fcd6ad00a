sed -i 's/inventory\.helpers/inventory.core.units/; s/from \.helpers/from .core.units/' inventory/cli.py inventory/reports.py
python3 -m inventory total stock.csv
