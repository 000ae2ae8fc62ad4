"""Names of the columns that matter most, in languages beyond the seven of `synonym_words`.

Polish, Czech, Swedish, Danish, Norwegian, Finnish, Hungarian, Romanian, Turkish, Russian, Greek,
Japanese, Chinese, Korean, Arabic; marked as there.
"""

from __future__ import annotations

ABROAD: dict[str, str] = {
    "identifiers.sku": """
        kod produktu|kod towaru|numer artykułu|nr artykułu|symbol?|indeks?|kód|kód produktu|
        kód zboží|
        číslo zboží|artikelnummer|artikelnr|varenummer|varenr|vare nr|tuotekoodi|tuotenumero|
        cikkszám|termékkód|cod produs|cod articol|ürün kodu|stok kodu|артикул|код товара|код|
        κωδικός|κωδικός προϊόντος|商品コード|商品番号|品番|型番|产品编号|商品编号|货号|产品编码|
        商品编码|
        상품코드|품번|رمز المنتج|رقم المنتج|رقم الصنف|kod|numer katalogowy""",
    "title": """
        nazwa|nazwa produktu|nazwa towaru|název|název produktu|název zboží|benämning|produktnamn|
        varenavn|produktnavn|navn|benævnelse|nimi|tuotenimi|név|terméknév|megnevezés|denumire|
        denumire produs|nume produs|ürün adı|malzeme adı|наименование|название|название товара|
        наименование товара|товар|όνομα|ονομασία|όνομα προϊόντος|商品名|品名|製品名|产品名称|
        商品名称|
        品名|名称|상품명|제품명|품명|اسم المنتج|اسم الصنف|nazwa artykułu""",
    "description": """
        opis|opis produktu|popis|popis produktu|beskrivning|beskrivelse|kuvaus|leírás|descriere|
        açıklama|ürün açıklaması|описание|описание товара|περιγραφή|説明|商品説明|描述|产品描述|
        商品描述|
        설명|상품설명|الوصف|وصف المنتج""",
    "price.amount": """
        cena|cena netto|cena brutto|cena jednostkowa|cena bez dph|cena s dph|pris|pris ex moms|
        pris exkl moms|pris inkl moms|pris eks moms|netpris|nettopris|hinta|ár|nettó ár|bruttó ár|
        egységár|preț|pret|preț unitar|fiyat|birim fiyat|satış fiyatı|цена|стоимость?|
        цена розничная|
        τιμή|価格|単価|販売価格|価格 税込|价格|单价|售价|가격|판매가|단가|السعر|سعر|
        cena katalogowa""",
    "price.currency": """
        waluta|měna|valuta|valuutta|pénznem|deviza|monedă|para birimi|döviz|валюта|νόμισμα|通貨|
        货币|
        币种|통화|العملة""",
    "availability.quantity": """
        stan|stan magazynowy|ilość|liczba sztuk|množství|skladem ks|počet kusů|antal|lagersaldo|
        lagerstatus antal|lager|lagerantal|antall|beholdning|varasto|varastosaldo|määrä|készlet|
        mennyiség|stoc|cantitate|stok|stok adedi|miktar|остаток|количество|наличие на складе|кол во|
        ποσότητα|απόθεμα|在庫数|在庫|数量|库存|库存数量|数量|재고|재고수량|수량|الكمية|المخزون""",
    "availability.status": """
        dostępność|dostupnost|skladem|na skladě|
        tillgänglighet|lagerstatus|tilgængelighed|tilgjengelighet|saatavuus|
        elérhetőség|disponibilitate|stok durumu|наличие|доступность|διαθεσιμότητα|availability|
        在庫状況|库存状态|재고상태|التوفر""",
    "identifiers.gtin": """
        kod kreskowy|kod ean|čárový kód|streckkod|stregkode|strekkode|viivakoodi|vonalkód|
        cod de bare|cod bare|barkod|штрихкод|штрих код|γραμμωτός κώδικας|barcode|janコード|jan|
        バーコード|条形码|条码|바코드|الباركود""",
    "brand": """
        marka|producent|značka|výrobce|varumärke|märke|tillverkare|mærke|merke|produsent|brändi|
        valmistaja|márka|gyártó|marcă|producător|üretici|бренд|производитель|марка|μάρκα|
        κατασκευαστής|ブランド|メーカー|品牌|厂商|브랜드|제조사|العلامة التجارية""",
    "category": """
        kategoria|grupa|categorytext|category text|
        kategorie|skupina|kategori|varugrupp|varegruppe|tuoteryhmä|kategória|
        categorie|ürün grubu|категория|группа|κατηγορία|カテゴリ|カテゴリー|分类|类别|카테고리|
        الفئة|
        التصنيف""",
    "price.unit": """
        jednostka|jednostka miary|j m|jm|jedn|jednotka|mj|enhet|enhed|yksikkö|egység|mértékegység|
        unitate|unitate de măsură|birim|ед изм|единица измерения|единица|μονάδα|単位|单位|단위|
        الوحدة""",
    "specifications.weight": """
        waga|masa|hmotnost|váha|vikt|vægt|vekt|paino|súly|tömeg|greutate|ağırlık|вес|масса|βάρος|
        重量|重さ|무게|중량|الوزن""",
    "images": """
        zdjęcie|zdjęcia|obrázek|obrázky|bild|billede|bilde|kuva|kép|imagine|resim|görsel|
        изображение|фото|картинка|εικόνα|画像|画像url|图片|이미지|صورة""",
}
