"""Words around prices, in seven languages."""

from __future__ import annotations

import re

from penstock.catalog.words import phrases, words


def _any_of(text: str) -> str:
    longest_first = sorted(phrases(text), key=len, reverse=True)
    return "|".join(re.escape(phrase).replace(r"\ ", r"[ -]?") for phrase in longest_first)


_ALONE = r"(?<![^\W_])(?:{})(?![^\W_])"

ON_REQUEST = re.compile(
    _ALONE.format(
        _any_of("""
        on request|upon request|price on request|price on application|poa|p.o.a.|p.o.a|por|p.o.r.|
        call for price|call|call us|contact us|ask|ask for price|request a quote|request quote|
        quote|tba|tbd|to be announced|to be confirmed|tbc|market price|auf anfrage|
        preis auf anfrage|a.a.|anfrage|anfragen|bitte anfragen|tagespreis|nach absprache|
        sur demande|prix sur demande|nous consulter|sur devis|nous contacter|à la demande|
        a consultar|consultar|precio a consultar|bajo consulta|a petición|bajo pedido|
        bajo demanda|solicitar precio|su richiesta|prezzo su richiesta|a richiesta|contattaci|
        su preventivo|op aanvraag|prijs op aanvraag|aanvraag|op verzoek|dagprijs|sob consulta|
        preço sob consulta|a pedido|sob pedido|consulte|consultar preço""")
    ),
    re.IGNORECASE,
)
FREE = frozenset(
    phrases("""
        free|for free|free of charge|gratis|kostenlos|kostenfrei|umsonst|gratuit|offert|gratuito|
        grátis|gratuita|omaggio|no charge|foc|f.o.c.""")
)
FROM = re.compile(
    _ALONE.format(
        _any_of("""
        from|starting at|starting from|as low as|ab|schon ab|à partir de|a partir de|dès|desde|da|
        a partire da|vanaf|v.a.|min|mind|price from|od|bei""")
    ),
    re.IGNORECASE,
)
TAX_INCLUDED = re.compile(
    _ALONE.format(
        _any_of("""
        incl. vat|inc vat|inc. vat|incl vat|including vat|vat incl|vat incl.|vat included|
        incl. tax|incl tax|tax included|inc gst|incl. gst|gross|inkl. mwst|inkl mwst|inkl. mwst.|
        incl. mwst|inkl. ust|inkl. 19% mwst|brutto|bruttopreis|zzgl. versand|ttc|t.t.c.|
        toutes taxes comprises|iva incluido|iva inc|iva incl|con iva|iva inclusa|iva compresa|
        ivato|lordo|s dph|vč. dph|z vat|inkl. moms|inkl moms|inklusive moms|bruttó|с ндс|kdv dahil|
        税込|税込み|含税|incl. btw|incl btw|inclusief btw|bruto|com iva|iva incluído|c/ iva|
        con i.v.a.""")
    ),
    re.IGNORECASE,
)
TAX_EXCLUDED = re.compile(
    _ALONE.format(
        _any_of("""
        excl. vat|ex vat|ex. vat|excl vat|excluding vat|vat excl|vat excl.|plus vat|+ vat|
        bez dph|bez vat|exkl. moms|exkl moms|ex moms|ex. moms|eks. moms|eks moms|nettó|без ндс|
        kdv hariç|税抜|税別|未税|不含税|
        excl. tax|excl tax|ex gst|ex tax|net|netto|nettopreis|zzgl. mwst|zzgl mwst|zzgl. mwst.|
        exkl. mwst|exkl. mwst.|zzgl. ust|excl. mwst|ohne mwst|ht|h.t.|hors taxes|hors taxe|
        hors tva|sin iva|iva no incluido|más iva|+ iva|iva aparte|senza iva|iva esclusa|escl. iva|
        +iva|excl. btw|excl btw|exclusief btw|ex btw|sem iva|s/ iva|iva excluído|uvp netto""")
    ),
    re.IGNORECASE,
)
LABELS = words(
    """
    price preis preise prix precio prezzo prijs preço preco cena uvp rrp msrp vk ek hek ppc pvp
    pvc now only nur jetzt seulement solo slechts só apenas bereits statt was sale unser ihr
    regular special each je tax vat mwst ust tva iva btw the our my per pro par por al alla le
    la el il de un une uno una ca circa approx about approximately environ aprox excl incl inkl
    exkl zzgl plus netto brutto ht ttc und and et y e en o or oder regelmäßig běžná od cena von
    to bis a à tot até about"""
)
PER_UNIT = re.compile(
    r"(?:/|(?<![^\W_])(?:per|pro|je|par|por|al|alla|le|il|el|à|@|each)(?![^\W_]))\s{0,2}"
    r"(?P<amount>[0-9]{1,6}(?:[.,][0-9]{1,3})?)?\s{0,2}"
    r"(?P<unit>[^\W\d_]{1,12}[23²³]?)\.?(?![^\W_])",
    re.IGNORECASE,
)
# "1.2k" and "2 for $5": what is meant is not the number that stands there.
NOT_PLAIN = re.compile(
    r"[0-9]\s?(?:k|tsd|mio|mrd|mn|bn|million|millions|thousand|billion|mille|mil|mila)(?![^\W_])"
    r"|[0-9]\s?(?:x|for|für|pour|voor|por|per)\s?[^\w\s]?\s?[0-9]",
    re.IGNORECASE,
)
BETWEEN = re.compile(
    r"^\s{0,3}(?:-{1,2}|–|—|to|bis|à|a|hasta|tot|até|ate|until|~|/)\s{0,3}$", re.IGNORECASE
)
