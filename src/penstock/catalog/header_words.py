"""Headers in fewer words: abbreviations written out, words of one meaning as one, paths cut short.

`Mfr Part #`, `Hersteller-Teilenr.` and `ARTICLE_DETAILS.MANUFACTURER_AID` are no names anybody
listed, but they are made of words that were.
"""

from __future__ import annotations

import re
from functools import cache

from penstock.catalog.words import phrases, words

# What comes first is what all that follows mean. A word is here only if it means one thing alone
# in any name of a column.
_SAME = phrases("""
    number no nr nro num nbr nummer numero numer|
    article art artikel articulo articolo artigo artic|
    product prod produkt produit producto prodotto produto|
    code cod kode codigo codice|
    reference ref refer referenz referencia riferimento referentie|
    name nom nombre nome naam|
    description desc descr beschreibung descripcion descrizione descricao omschrijving
    beschr omschr|
    designation bez bezeichnung denominacion denominazione designacao benaming|
    price preis prix precio prezzo prijs preco prs|
    quantity qty quantite qte cantidad quantita qta quantidade qtd qtde menge mge|
    stock bestand voorraad existencias giacenza estoque|
    unit unite unidad unita unidade eenheid einheit einh|
    manufacturer mfr mfg mfgr manuf manufact hersteller herst fabricant fabricante produttore
    fabrikant|
    supplier lieferant fournisseur proveedor fornitore leverancier fornecedor lief|
    category cat kategorie categorie categoria|
    currency curr cur wahrung wahrg waehrung waehrg devise moneda valuta moeda|
    weight wt wght gewicht gew poids peso|
    dimension dim dims dimensions abmessung abmessungen afmeting afmetingen|
    available avail verfugbar disponible disponibile beschikbaar disponivel|
    minimum min minimal mindest minimale minima minimo|
    package pkg pkge pkt packung|
    image img pic picture photo foto bild imagen immagine imagem afbeelding|
    inventory inv|
    delivery lieferung livraison entrega consegna levering|
    date datum fecha|
    additional addl zusatz zusatzlich|
    cost kosten cout costo|
    shipping ship versand""")
_MEANT = {word: same.split()[0] for same in _SAME for word in same.split()}
# Alone, words this short mean too much: `Art` is a kind, `No` an answer.
_SHORTEST_ALONE = 4
_CLEAR_ALONE = words("mfr mfg bez qty qte")
_JOINING = words("of de der des du del di da do the le la el il von van en y e und and d l")
# Members of records whose name only says that the product is meant.
_NEUTRAL = words(
    """
    article articles product products item items detail details info information infos data
    attribute attributes field fields general basic base property properties offer offers order
    logistic logistics content node record main identifier identifiers identification codes
    pricing commercial marketing media mime price prices feature features core common root
    description descriptions basics master stock inventory gtins eans id source fix unit
    param params attrs attr"""
)
_SINGLES = re.compile(r"\b[^\W\d_](?: [^\W\d_]\b)+")
_MEMBER = re.compile(r"[.>/]")
_BRACKETED = re.compile(r"[(\[{][^()\[\]{}]{0,60}[)\]}]")


@cache
def canonical(key: str) -> str:
    """A key with its words written out, joining words and spaces left out; empty where too little
    is there to be sure of."""
    key = _SINGLES.sub(lambda run: run.group().replace(" ", ""), key)
    if len(key) < _SHORTEST_ALONE and key in _MEANT and key not in _CLEAR_ALONE:
        return ""
    return "".join(_MEANT.get(word, word) for word in key.split() if word not in _JOINING)


def without_brackets(header: str) -> str | None:
    """What is left of `Levertijd (dagen)`; None where nothing is, or nothing stood in brackets."""
    rest = _BRACKETED.sub(" ", header).strip()
    return rest if rest and rest != header.strip() else None


def with_number_signs(header: str) -> str:
    """`Item #` is an item's number."""
    return header.replace("#", " no ")


def members(header: str) -> list[str]:
    """The last members of a path, where those before only say that the product is meant."""
    path = [part for part in _MEMBER.split(header) if part.strip()]
    if len(path) < 2 or len(path) > 8 or " " in header.strip():
        return []
    ends = []
    for cut in range(1, len(path)):
        above = " ".join(path[:cut])
        words_above = re.sub(r"[\W_]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", above)).split()
        if all(word.casefold() in _NEUTRAL for word in words_above):
            ends.append(".".join(path[cut:]))
    return ends
