"""Names of columns in seven languages; a question mark makes a name weak, a tilde yields.

Where two names of one field stand in a file, one with a tilde gives way to one without. A name that
means another field first (`artikel`) has a roof behind it where it could also be this one.
"""

from __future__ import annotations

WORDS: dict[str, str] = {
    "sourceId": """
        id|product id~|item id|external id|record id|unique id|uniqueid|entity id|article id|
        internal id?|produkt id|produkt-id|id produit|identifiant|identifiant produit|
        id producto|identificador|id prodotto|identificativo|artikel-id|id produto|
        identificador do produto""",
    "title": """
        title|name~|product name|product title|item name|item title|article name|product|
        short name?|item description?|label?|designation|titel|bezeichnung|artikelbezeichnung|
        produktbezeichnung|artikelname|produktname|produkttitel|artikeltitel|kurzbezeichnung|
        benennung|warenbezeichnung|artikel?|produkt?|kurztext|materialkurztext|titre|nom|
        nom du produit|nom produit|nom de l article|désignation|désignation article|libellé|
        libellé produit|intitulé|produit?|libellé article|título|nombre|nombre del producto|
        nombre producto|producto|denominación|nombre del artículo|artículo?|titolo|nome|
        nome prodotto|nome del prodotto|denominazione|prodotto|nome articolo|articolo?|naam|
        productnaam|artikelnaam|product naam|omschrijving kort|benaming|artikelomschrijving|
        productomschrijving?|nome do produto|nome produto|produto|designação|denominação|artigo?|
        item description|product line?|description short|short description?|beschreibung kurz|
        kurzbeschreibung?|artikelkurztext|produktbezeichnung 1|bezeichnung 1|artikelbezeichnung 1|
        text 1?|part description|part name|style name|style description|model name|
        bezeichnung kurz|
        kurz bezeichnung|item desc|libelle article|désignation produit|descrição do produto?|
        descripción del artículo|descripción artículo|descrizione articolo|descripción corta?|
        descrizione breve?|nombre artículo|descrição do artigo""",
    "description": """
        description|product description|long description|full description|details|item details?|
        body|body html|content?|text?|longdescription|marketing text|product details|about?|
        beschreibung|produktbeschreibung|artikelbeschreibung|langtext|langbeschreibung|details|
        produkttext|artikeltext|beschreibungstext|ausführliche beschreibung|descriptif|
        description produit|description longue|description du produit|texte|détails|descripción|
        descripción del producto|descripción larga|descripcion|detalle|detalles|descrizione|
        descrizione prodotto|descrizione lunga|descrizione estesa|dettagli|omschrijving|
        beschrijving|lange omschrijving|productbeschrijving|uitgebreide omschrijving|descrição|
        descrição do produto|descrição longa|descrição completa|detalhes|
        description long|long text|beschreibung lang|langbeschreibung|bezeichnung 2?|
        description détaillée|detailed description|full text|produktinformation|product info?""",
    "category": """
        category|categories|category path|category name|product category|product type|type?|
        group?|product group|department|taxonomy|breadcrumb|category tree|classification?|
        section?|kategorie|kategorien|produktkategorie|warengruppe|artikelgruppe|produktgruppe|
        kategoriepfad|hauptkategorie|sortiment?|rubrik|catégorie|catégories|famille|
        famille produit|rayon|catégorie produit|gamme?|type de produit|categoría|categorías|
        familia|categoría de producto|grupo?|sección?|categoria|categorie|categoria prodotto|
        famiglia|reparto|gruppo merceologico|categorie|categorieën|productgroep|artikelgroep|
        productcategorie|rubriek|categorias|categoria do produto|família|departamento|
        category 1|main category|hauptwarengruppe|warengruppenbezeichnung|product family|
        product line|catégorie 1|kategorie 1|subcategory?|unterkategorie?|sous famille?|subfamilia?|
        sottocategoria?|product category name|artikelgruppenbezeichnung""",
    "brand": """
        brand|brand name|manufacturer|maker|manufacturer name|make|vendor?|label name?|producer|
        marke|markenname|hersteller|herstellername|fabrikat|produzent|marque|fabricant|
        nom de marque|constructeur|marca|fabricante|nombre de marca|marchio|produttore|
        fabbricante|merk|merknaam|fabrikant|nome da marca|produtor|
        mfr name|mfr|mfg name|brand manufacturer|marke hersteller|lieferantenmarke|
        marca fabricante|merk fabrikant""",
    "price.amount": """
        unit cost?|cost each?|
        fob price|fob|exw price|exw|cif price|netto ek|netto vk|brutto ek|unit price fob|
        ex works price|
        price|unit price|sale price?|selling price|list price|retail price|net price|gross price|
        regular price|your price|cost?|cost price?|wholesale price|purchase price|dealer price|
        rrp|msrp|srp|amount?|trade price|price each|current price|item price|price with vat|
        price without vat|price list?|preis|einzelpreis|verkaufspreis|listenpreis|nettopreis|
        bruttopreis|stückpreis|einkaufspreis|vk|vk preis|ek|ek preis|uvp|endpreis|ladenpreis|
        händlerpreis|preis netto|preis brutto|verkaufspreis netto|verkaufspreis brutto|
        grundpreis netto?|hek|uvpe|prix|prix unitaire|prix de vente|prix ht|prix ttc|tarif|
        prix public|prix net|prix d achat|pvp|pu ht|puht|prix unitaire ht|prix catalogue|ppc|
        precio|precio unitario|precio de venta|pvp|precio neto|precio venta|tarifa|precio con iva|
        precio sin iva|importe?|coste?|prezzo|prezzo unitario|prezzo di vendita|prezzo di listino|
        listino|prezzo netto|prezzo ivato|costo?|prezzo al pubblico|prijs|verkoopprijs|stukprijs|
        adviesprijs|inkoopprijs|nettoprijs|brutoprijs|prijs excl btw|prijs incl btw|preço|
        preço unitário|preço de venda|valor|preço venda|valor unitário|preço de tabela|pvp|
        mrp?|price gross|price net|net|net cost?|your cost?|dealer net|dealer cost|jobber|
        base price|basispreis|aktueller preis|vk netto|vk brutto|vkp|ekp|nettopreis 1|
        listenpreis netto|
        preis pro stück|preis je stück|stück preis|prix unit|prix unit ht|pu|p u|prix u|
        prix public ht|prix public ttc|prix conseillé|pvpr|pvr|precio tarifa|precio base|pvd|
        prezzo pubblico|prezzo iva esclusa|prezzo iva inclusa|verkoopprijs excl btw|bruto prijs|
        netto prijs|catalogusprijs|preço tabela|preço líquido|price amount|
        price value|sell price|start price|buy it now price|preise|standard price""",
    "price.currency": """
        currency id|currencyid|
        currency|currency code|price currency|iso currency|curr|währung|waehrung|währungscode|
        preiswährung|devise|monnaie|code devise|moneda|divisa|valuta|moeda|valutacode|
        codice valuta|código moneda""",
    "price.unit": """
        unit|uom|unit of measure|unit of measurement|sales unit|price unit~|units?|selling unit|
        order unit|einheit|mengeneinheit|verkaufseinheit|me|preiseinheit~|vke|basismengeneinheit|
        bestelleinheit|unité|unité de vente|unité de mesure|udv|unidad|unidad de medida|
        unidad de venta|ud|unità|unità di misura|um|unità di vendita|eenheid|verkoopeenheid|
        unidade|unidade de medida|unidade de venda|
        bme?|preiseinh~|peinh~|order uom|sell uom|selling uom|sales uom|preis einheit~|preis per~|
        price per~|per unit?|mengeneinh|vk einheit|ve einheit|unit sale|u m|udm|u v""",
    "price.unit.count": """
        pe|preiseinheit|preiseinh|peinh|preis einheit|preis per|price per|price unit|price quantity|
        price unit quantity|preismenge|preis pro menge|pricing quantity|price basis|preisbasis|
        prijseenheid|unité de prix|base de prix|unidad de precio|unità di prezzo|per qty?""",
    "specifications.pack": """
        pack size|package size|pack|pack qty|pack quantity|case pack|quantity per pack|
        units per pack|contents|content per unit|net content|size of pack|volume?|packaging unit|
        case size|unit size|inner pack|packungsgröße|verpackungseinheit|ve|inhalt|gebindegröße|
        gebinde|packungsinhalt|vpe|füllmenge|menge je ve|packungseinheit|nennfüllmenge|
        conditionnement|contenance|taille du lot|colisage|quantité par lot|pcb|contenu|contenido|
        tamaño del paquete|unidades por paquete|envase|contenido neto|formato?|confezione|
        contenuto|pezzi per confezione|formato confezione|verpakking|inhoud|verpakkingseenheid|
        verpakkingsgrootte|embalagem|conteúdo|unidades por embalagem|quantidade por embalagem|
        unidades por caja|uds caja|unidades caja|unidad de embalaje|pezzi per cartone|conf|
        pz conf|confez|qté par carton|quantité par carton|pièces par carton|case qty|case quantity|
        units per case|qty per case|pack count|pcs per carton|carton qty|box qty|inner qty|
        master pack|
        verpackungsmenge|verpackung|menge pro ve|menge ve|stück pro ve|inhalt pro ve|packmenge|
        aantal per doos|stuks per doos|doosinhoud|unidades por caixa|qtd por caixa|volumen?|pack of|
        pieces per pack|no cu per ou|size per unit|net quantity|fill quantity""",
    "price.perUnit": """
        price per unit|base price per unit|unit pricing|comparison price|price per kg|
        price per litre|grundpreis|preis pro einheit|prix au kilo|prix au litre|prix par unité|
        precio por unidad|precio por kilo|prezzo al kg|prezzo per unità|prijs per eenheid|
        preço por unidade""",
    "variants": """
        variants edges|variants nodes""",
    "price.tiers": """
        prices?|price list?|price scales|scale prices|
        tier prices|tier price|tiered prices|volume prices|quantity breaks|price breaks|
        quantity discounts|volume pricing|bulk prices|group prices|customer group prices?|
        staffelpreise|staffelpreis|mengenstaffel|staffel|staffelung|preisstaffel|mengenrabatt|
        prix dégressifs|tarif dégressif|
        paliers de prix|precios por volumen|precios escalonados|escalado|prezzi a scaglioni|
        scaglioni|sconti quantità|staffelprijzen|staffelprijs|preços por quantidade|escalões""",
    "price.taxIncluded": """
        tax included|price includes tax|vat included|includes vat|mwst enthalten|
        inkl mwst|tva incluse|iva incluido|iva inclusa|btw inbegrepen|iva incluído""",
    "availability.status": """
        availability|stock status|in stock|availability status|stock availability|is in stock|
        in stock status|stockstatus|available|dispo|disp?|disponibilità|
        verfügbarkeit|lagerstatus|lieferstatus|
        lieferbarkeit|verfügbar|lieferbar|auf lager|bestandsstatus|disponibilité|statut stock|
        état du stock|en stock|disponible|disponibilidad|estado de stock|estado del stock|
        disponibilità|stato magazzino|disponibile|beschikbaarheid|voorraadstatus|op voorraad|
        leverbaarheid|disponibilidade|estado do stock|em estoque|disponível""",
    "availability.quantity": """
        quantity|qty|stock|stock quantity|stock level|inventory|inventory quantity|on hand|
        available quantity|stock qty|qty available|quantity in stock|qoh|soh|inventory qty|
        available stock|units in stock|inventories|bestand|lagerbestand|menge|verfügbare menge|
        lagermenge|anzahl|stückzahl|quantité|stock disponible|qté|quantité en stock|qte|cantidad|
        existencias|unidades en stock|stock actual|inventario|quantità|giacenza|qta|esistenza|
        scorte|voorraad|aantal|hoeveelheid|voorraadaantal|quantidade|estoque|qtd|existências|
        quantidade em estoque|
        lager?|qty on hand|quantity on hand|available qty|free stock|stock on hand|
        lager menge|bestand gesamt|verfügbarer bestand|stock dispo|stock réel|stock disponibile|
        disponibilità magazzino|vrije voorraad|stock físico|saldo?|inventory level|atp|
        frei verwendbar|frei verwendbarer bestand""",
    "availability.leadTimeDays": """
        lead time|delivery time|lead time days|handling time|shipping time|processing time|
        days to ship|leadtime|lead days|fulfillment latency|lieferzeit|lieferzeit tage|
        lieferfrist|wiederbeschaffungszeit|lieferdauer|délai|délai de livraison|délai livraison|
        temps de livraison|plazo de entrega|tiempo de entrega|plazo|días de entrega|
        tempi di consegna|tempo di consegna|tempi consegna|giorni consegna|levertijd|levertermijn|
        leveringstijd|prazo de entrega|tempo de entrega|prazo|
        lead time weeks|days lead time|delivery days|liefertage|lieferzeit werktage|
        délai livraison jours|délai de réapprovisionnement|plazo entrega|tempi di consegna giorni|
        levertijd dagen|lieferzeit wochen|replenishment time|wbz""",
    "availability.minOrder": """
        min order|moq|minimum order|minimum order quantity|min order qty|min qty|minimum quantity|
        min quantity|minimal order quantity|mindestbestellmenge|mindestmenge|mindestabnahme|mbm|
        min menge|quantité minimum|minimum de commande|quantité minimale|qté min|cantidad mínima|
        pedido mínimo|mínimo de pedido|quantità minima|ordine minimo|minimo ordine|
        minimale bestelhoeveelheid|minimum afname|minimale afname|quantidade mínima|
        encomenda mínima|
        min order quantity|quantity min|min bestellmenge|mindest bestellmenge|
        mindestbestellwert?|minimum order qty|order multiple?|cantidad minima de pedido|
        quantité min de commande|min afname|lotto minimo|mínimo de compra""",
    "availability.deliveryDate": """
        delivery date|available from|availability date|restock date|date available|expected date|
        eta?|release date?|street date?|back in stock date|next delivery|lieferdatum|liefertermin|
        verfügbar ab|lieferbar ab|verfügbarkeitsdatum|wieder lieferbar ab|date de livraison|
        date de disponibilité|disponible le|date dispo|fecha de entrega|fecha de disponibilidad|
        disponible desde|data di consegna|data disponibilità|disponibile dal|leverdatum|
        beschikbaar vanaf|leverbaar vanaf|data de entrega|data de disponibilidade|
        disponível a partir de""",
    "supplier.id": """
        supplier id|supplier no|supplier number|vendor id|vendor number|supplier code|
        lieferantennummer|lieferantennr|lieferanten nr|kreditor|code fournisseur|n fournisseur|
        id fournisseur|código proveedor|id proveedor|codice fornitore|id fornitore|
        leveranciersnummer|leverancier id|código fornecedor|id fornecedor""",
    "supplier.name": """
        supplier|supplier name|vendor name|distributor|seller|seller name|vendor|merchant|
        lieferant|lieferantenname|händler|verkäufer|anbieter|fournisseur|nom du fournisseur|
        vendeur|distributeur|proveedor|nombre del proveedor|distribuidor|vendedor|fornitore|
        nome fornitore|distributore|venditore|leverancier|leveranciersnaam|verkoper|fornecedor|
        nome do fornecedor|
        lieferant name|supplier company|vendor company|manufacturer supplier?""",
    "supplier.rating": """
        supplier rating|rating|vendor rating|seller rating|stars|bewertung|lieferantenbewertung|
        note fournisseur|évaluation|valoración|calificación|valutazione|beoordeling|avaliação""",
    "supplier.location": """
        supplier location|supplier country|supplier address|vendor location|seller location|
        lieferantenland|standort|lieferantenort|pays fournisseur|país proveedor|paese fornitore|
        land leverancier|país fornecedor""",
    "supplier.certifications": """
        certifications|certificates|certification|certificate|supplier certifications|zertifikate|
        zertifizierungen|zertifizierung|certificats|certificaciones|certificados|certificazioni|
        certificati|certificeringen|certificaten|certificações""",
    "specifications.dimensions": """
        dimensions|size l x w x h|measurements|product dimensions|lxwxh|l x w x h|size lxwxh|
        abmessungen|maße|masse|abmessung|maße lxbxh|lxbxh|abmessungen lxbxh|produktmaße|
        größe lxbxh|dimensiones|medidas|dimensions lxlxh|dimensioni|misure|afmetingen|afmeting|
        maten|dimensões|
        product size?|package dimensions|maße l x b x h|abmessung lxbxh|dimension lxwxh|
        hxbxt|bxhxt|h x b x t|b x h x t|dimensões lxaxp|maat|dims|size mm|size cm""",
    "specifications.dimensions.length": """
        length|dimensions length|dimension length|
        item length|länge|laenge|longueur|largo|longitud|lunghezza|lengte|comprimento|
        dim l|dimension l|l dimension|l mm|l cm|length l""",
    "specifications.dimensions.width": """
        width|dimensions width|dimension width|
        item width|breite|largeur|ancho|anchura|larghezza|breedte|largura|
        dim w|dimension w|w mm|w cm|width w|dim b""",
    "specifications.dimensions.height": """
        height|dimensions height|dimension height|
        item height|höhe|hoehe|hauteur|alto|altura|altezza|hoogte|
        dim h|dimension h|h mm|h cm|height h""",
    "specifications.dimensions.depth": """
        depth|dimensions depth|dimension depth|
        item depth|tiefe|profondeur|profundidad|fondo|profondità|diepte|profundidade|
        dim d|dimension d|d mm|dim t""",
    "specifications.dimensions.unit": """
        dimension unit|dimensions unit|length unit|size unit|maßeinheit|dimension uom""",
    "specifications.weight": """
        g w|n w?|gw|g wt|
        weight|net weight|gross weight?|item weight|shipping weight|unit weight|product weight|
        gewicht|nettogewicht|bruttogewicht?|artikelgewicht|versandgewicht|eigengewicht|poids|
        poids net|poids brut?|poids unitaire|peso|peso neto|peso netto|peso bruto?|peso lordo?|
        peso líquido|gewicht netto|grams|
        weight net|gewicht brutto?|weight gross?|poids kg|masse nette|peso kg|weight each|wt""",
    "specifications.weight.unit": """
        weight unit|weight uom|unit of weight|gewichtseinheit|unité de poids|unidad de peso|
        unità di peso|gewichtseenheid|unidade de peso""",
    "specifications.material": """
        material|materials|fabric|composition|fabric type|material type|werkstoff|materialien|
        zusammensetzung|stoff|matière|matériau|matériaux|composición|materiale|materiali|
        composizione|materiaal|samenstelling|materiais|composição""",
    "images": """
        image|images|image url|image link|image urls|picture|pictures|photo|photos|image src|
        main image|product image|picture url|img|img url|thumbnail?|additional image link|
        additional images|additional image|image links|base image|photo url|gallery|media?|
        large image|small image?|secondary image|bild|bilder|bild url|bildlink|produktbild|
        produktbilder|hauptbild|bildadresse|bild link|foto|fotos|artikelbild|bilddatei?|bildpfad|
        image principale|url image|lien image|images produit|visuel|visuels|imagen|imágenes|
        imagen principal|url imagen|enlace imagen|imagenes|immagine|immagini|immagine principale|
        url immagine|link immagine|afbeelding|afbeeldingen|afbeelding url|hoofdafbeelding|
        productafbeelding|imagem|imagens|imagem principal|url imagem|link da imagem|
        mime source|mime?|picture link|main picture|image 1 url|main image url|url foto|url photo|
        immagine url|foto url|link foto|image file?|picture file?|image path?""",
    "images.alt": """
        image alt|image alt text|alt text|alt|image description|bildbeschreibung|alternativtext|
        texte alternatif|texto alternativo|testo alternativo|alt tekst""",
    "identifiers.sku": """
        sku|item number|item no|article number|product code|item code|part no?|stock code|
        product number|product sku|stock keeping unit|catalog number|catalogue number|cat no|
        order number?|code?|item?|article no|item sku|supplier sku|vendor sku|seller sku|model?|
        reference|ref|product ref|article code|stock number|product no|material number|
        artikelnummer|artikel nr|artnr|art nr|artikel-nr|bestellnummer|bestell nr|produktnummer|
        materialnummer|artikelnr|sachnummer|teilenummer?|produkt nr|art no|artikelcode|référence|
        réf|référence produit|code article|code produit|réf article|référence article|
        numéro d article|référence fournisseur|réf fournisseur|referencia|código|
        código de producto|código artículo|ref producto|código de artículo|nº de artículo|codice|
        codice articolo|codice prodotto|cod articolo|riferimento|cod art|cod|artikelnummer|
        productcode|bestelnummer|artikelcode|referentie|código do produto|código produto|
        referência|código do artigo|cód produto|
        artikel^|article^|artículo^|articolo^|artigo^|produkt^|product^|material^|
        katalognummer|katalog nr|lieferantenartikelnummer|sku code|sku number|sku id|internal code|
        item id?|ident nr|identnummer|artikelnummer lieferant|codice interno|referencia interna|
        référence interne|n article|nº artículo|plu|supplier aid|supplier pid|
        custom label|sku custom label""",
    "identifiers.gtin": """
        eans|gtins|
        gtin|ean|upc|barcode|ean code|gtin 13|gtin 14|gtin 12|gtin 8|ean 13|ean 8|isbn|isbn 13|
        isbn 10|upc code|bar code|upc a|jan|global trade item number|barcode number|ean upc|
        gtin ean|ean gtin|upc ean|ean number|product barcode|gtin upc ean or isbn|ean isbn|
        strichcode|ean nummer|gtin nummer|ean nr|europäische artikelnummer|barcodenummer|
        code barres|code barre|code ean|gencod|gencode|código de barras|código ean|codigo ean|
        cod barras|codice a barre|codice ean|barcode ean|streepjescode|ean-code|código de barra|
        ean stück|ean 1|ean13|gtin nr|gtin13|upc ean code|upc number|upc no|ean artikel|
        gtin stück|international aid|international pid|barkod|código barras|ean unidad|ean pezzo|
        ean unité|gencod unité""",
    "identifiers.mpn": """
        vendor code|vendorcode|
        hans|part?|
        mpn|pn|mfr pn|part nr|manufacturer part number|manufacturer number|part number|
        mfr part number|
        mfg part number|manufacturer sku|mfr no|oem number|manufacturer code|
        manufacturer item number|model number|model no|mfr part no|herstellernummer|hersteller nr|
        herstellerartikelnummer|hersteller artikelnummer|herstellerteilenummer|teilenummer|
        hersteller art nr|modellnummer|typnummer|han|référence fabricant|réf fabricant|
        numéro de pièce|référence constructeur|referencia fabricante|número de pieza|
        código fabricante|referencia del fabricante|codice produttore|codice fabbricante|
        numero parte|fabrikantnummer|onderdeelnummer|fabrikantcode|referência do fabricante|
        código do fabricante|
        manufacturer aid|manufacturer pid|mfr sku|vendor part number|oem no|oem nr|
        oem part number|herstellerbestellnummer|hersteller bestellnummer|original nummer|model code|
        modèle référence|artikelnummer hersteller|herstellerartikel|typ nr|fabrikantartikel""",
    "variants.group": """
        handle|parent sku|parent|item group id|parent id|group id|variant group|parent code|
        family code|product handle|master sku|style number|style code|style?|model group|
        parent product|configurable sku|vaterartikel|hauptartikel|elternartikel|variantengruppe|
        master artikelnummer|référence parente|sku parent|article parent|sku padre|producto padre|
        codice padre|sku genitore|hoofdartikel|ouder sku|sku pai|produto pai""",
    "variants.color": """
        color|colour|farbe|couleur|coloris|colore|kleur|cor|color name|farbbezeichnung""",
    "variants.size": """
        size|größe|groesse|taille|talla|taglia|maat|tamanho|size name|konfektionsgröße|pointure""",
    "metadata.url": """
        url|link|product url|product link|web page|website|page url|permalink|deeplink|deep link|
        web link|produktlink|produkt url|webseite|artikellink|lien|lien produit|url produit|
        page produit|enlace|url producto|url prodotto|link prodotto|pagina prodotto|productlink|
        product pagina|link do produto|url do produto|product page""",
    "metadata.lastUpdated": """
        last updated|updated|updated at|modified|last modified|date modified|modified date|
        last change|changed at|update date|last update|date updated|letzte änderung|aktualisiert|
        geändert am|aktualisiert am|stand|änderungsdatum|mis à jour|dernière modification|
        date de mise à jour|date modification|actualizado|última actualización|
        fecha de actualización|fecha modificación|aggiornato|ultimo aggiornamento|
        data aggiornamento|data modifica|bijgewerkt|laatst bijgewerkt|gewijzigd|wijzigingsdatum|
        atualizado|última atualização|data de atualização""",
    "metadata.tags": """
        tags|keywords|tag|labels|key words|search terms|search keywords|schlagworte|stichworte|
        schlagwörter|suchbegriffe|stichwörter|mots clés|étiquettes|mot clé|etiquetas|
        palabras clave|parole chiave|etichette|trefwoorden|zoekwoorden|palavras chave|
        palavras-chave|
        keyword|search words|meta keywords""",
}
