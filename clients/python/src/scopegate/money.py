"""Amounts in minor units, as text."""

from decimal import Decimal

# digits of the minor unit by ISO 4217, if not two
DIGITS = {
    **dict.fromkeys("BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF".split(), 0),
    **dict.fromkeys("BHD IQD JOD KWD LYD OMR TND".split(), 3),
    **dict.fromkeys("CLF UYW".split(), 4),
}


def format_amount(minor: int, currency: str) -> str:
    """1250 is EUR 12.50, JPY 1,250 or KWD 1.250."""
    digits = DIGITS.get(currency, 2)
    # a float would round large amounts
    return f"{currency} {Decimal(minor).scaleb(-digits):,.{digits}f}"
