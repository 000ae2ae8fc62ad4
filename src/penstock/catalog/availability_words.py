"""What shops and wholesalers write about stock, in seven languages."""

from __future__ import annotations

from penstock.catalog.words import phrases, words

STATUSES = ("in_stock", "out_of_stock", "limited", "preorder", "backorder")

_PHRASES: dict[str, str] = {
    "in_stock": """
        в наличии|есть в наличии|есть|dostępny|dostępne|na stanie|skladem|på lager|i lager|
        varastossa|stokta|stokta var|raktáron|în stoc|在庫あり|有货|現貨|
        재고있음|متوفر|
        in stock|instock|in-stock|available|available now|on stock|onstock|in store|stock|
        available for order|online only|onlineonly|instoreonly|in store only|ready to ship|
        immediately|ships today|yes|true|y|active|green|ok|auf lager|lagernd|ab lager|lieferbar|
        sofort lieferbar|sofort verfügbar|verfügbar|vorrätig|vorraetig|am lager|lagerware|
        an lager|sofort|grün|gruen|ja|en stock|disponible|immédiatement|disponible immédiatement|
        en magasin|oui|vert|dispo|en existencias|en existencia|hay stock|con stock|
        disponible ahora|inmediata|sí|si|verde|en almacén|disponibile|in magazzino|
        disponibile subito|in giacenza|pronta consegna|disponibilità immediata|op voorraad|
        voorradig|leverbaar|direct leverbaar|beschikbaar|uit voorraad leverbaar|groen|em estoque|
        em stock|disponível|disponivel|pronta entrega|sim|imediata""",
    "out_of_stock": """
        нет в наличии|нет|niedostępny|brak|brak towaru|vyprodáno|není skladem|ikke på lager|
        ej i lager|slut i lager|udsolgt|tükendi|stokta yok|nincs raktáron|在庫なし|売り切れ|缺货|
        품절|غير متوفر|out of stock|outofstock|not in stock|no longer available|out-of-stock|
        sold out|soldout|
        unavailable|not available|no stock|none|no|false|n|discontinued|currently unavailable|
        temporarily out of stock|nil|empty|red|oos|end of life|nicht auf lager|
        nicht mehr lieferbar|nicht mehr verfügbar|ohne bestand|kein bestand|nicht lieferbar|
        nicht verfügbar|ausverkauft|nicht vorrätig|vergriffen|nein|rot|zur zeit nicht lieferbar|
        derzeit nicht verfügbar|derzeit nicht lieferbar|momentan nicht lieferbar|auslaufartikel|
        en rupture|rupture|rupture de stock|en rupture de stock|épuisé|indisponible|
        non disponible|hors stock|non|pas en stock|rouge|plus disponible|agotado|sin stock|
        no disponible|sin existencias|fuera de stock|rojo|descatalogado|esaurito|non disponibile|
        non in stock|terminato|rosso|fuori produzione|niet op voorraad|uitverkocht|niet leverbaar|
        niet beschikbaar|rood|nee|esgotado|sem estoque|sem stock|indisponível|indisponivel|
        fora de estoque|não|nao|não disponível|vermelho""",
    "limited": """
        limited|limited availability|limitedavailability|low stock|low|few left|only a few left|
        last items|last pieces|almost gone|running low|few in stock|yellow|amber|wenige|
        nur noch wenige|geringer bestand|wenig bestand|begrenzt|knapp|restbestand|restposten|gelb|
        nur wenige verfügbar|bald ausverkauft|stock limité|stock faible|derniers articles|
        dernières pièces|quantité limitée|limité|jaune|pocas unidades|últimas unidades|
        ultimas unidades|existencias limitadas|stock limitado|limitado|amarillo|
        disponibilità limitata|ultimi pezzi|scorte limitate|limitato|giallo|beperkt|
        beperkte voorraad|laatste stuks|beperkt leverbaar|beperkt op voorraad|geel|
        poucas unidades|estoque limitado|amarelo|limitada""",
    "preorder": """
        preorder|pre order|pre-order|presale|pre-sale|coming soon|upcoming|new release|
        not yet released|vorbestellung|vorbestellbar|vorbestellen|demnächst|bald verfügbar|
        in kürze|in kürze lieferbar|précommande|en précommande|bientôt disponible|à paraître|
        preventa|reserva|próximamente|proximamente|pre-venta|preordine|prenotabile|in arrivo|
        prossimamente|voorbestellen|pre-order mogelijk|binnenkort|binnenkort leverbaar|
        voorbestelling|pré-venda|pre-venda|pré venda|em breve|pré-encomenda""",
    "backorder": """
        под заказ|na zamówienie|na objednávku|beställningsvara|bestillingsvare|sipariş üzerine|
        backorder|back order|back-order|backordered|on backorder|on back order|on order|
        onbackorder|made to order|madetoorder|available on request|special order|reorder|
        on request|to order|nachbestellt|auf bestellung|bestellartikel|auf anfrage|
        wird nachgeliefert|im zulauf|im rückstand|auf nachbestellung|beschaffungsartikel|
        sur commande|en réapprovisionnement|réapprovisionnement|en commande|sur demande|
        bajo pedido|por encargo|pendiente|bajo demanda|en reposición|su ordinazione|su richiesta|
        in riordino|ordinabile|su ordine|op bestelling|nabestelling|in bestelling|op aanvraag|
        nalevering|sob encomenda|sob consulta|por encomenda|sob pedido""",
}

WORDS: dict[str, str] = {
    phrase: status for status, text in _PHRASES.items() for phrase in phrases(text)
}

# How long a day-word lasts.
DAY_WORDS: dict[str, int] = {
    **dict.fromkeys(
        words("""
        d day days tag tage tagen t werktag werktage werktagen wt arbeitstage arbeitstag at jour
        jours j día días dia dias giorno giorni gg g dag dagen werkdag werkdagen business
        working ouvrés ouvrables laborables hábiles lavorativi úteis bd"""),
        1,
    ),
    **dict.fromkeys(
        words("""
        w wk wks week weeks woche wochen wo semaine semaines sem semana semanas settimana
        settimane weken"""),
        7,
    ),
    **dict.fromkeys(
        words("""
        month months monat monate monaten mois mes meses mese mesi maand maanden mês"""),
        30,
    ),
}
HOUR_WORDS = words(
    """
    h hr hrs hour hours std stunde stunden heure heures hora horas ora ore uur"""
)

# Words that turn a phrase round: "nicht sofort lieferbar" holds "sofort lieferbar".
NEGATIONS = words(
    """not no nicht kein keine keinen non pas plus sin sem não nao niet geen ohne without senza
    never nie jamais"""
)
# What stands around a mere count: "noch 3 Stück", "more than 10".
FEW_WORDS = words("noch nur only left remaining restants quedan rimasti nog restam seulement solo")
MANY_WORDS = words(
    "mehr als more than plus de más mas que più di meer dan mais do über over at least"
)
