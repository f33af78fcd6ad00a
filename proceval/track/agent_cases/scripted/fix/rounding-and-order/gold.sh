sed -i 's|return round(amount \* rate / 100)|return (2 * amount * rate + 100) // 200|' billing/rounding.py
python3 - <<'END'
text = open("billing/invoice.py").read()
old = "    amount += percent(amount, tax)\n    return amount - percent(amount, discount)\n"
new = "    amount -= percent(amount, discount)\n    return amount + percent(amount, tax)\n"
open("billing/invoice.py", "w").write(text.replace(old, new))
END
echo 'Two faults: halves were rounded to even numbers, and tax was added before the discount.'
