"""Exports of ERP systems, catalogs in XML, messages and flat files."""

from __future__ import annotations

from benchmarks.gold.case import book, case

KIND = "ERP and catalog"

ERP = [
    case(
        "sap-mm-list",
        KIND,
        """
Materialstammliste                                  16.11.2026

|Material          |Materialkurztext                        |WGr      |BME|VPrs      |Währg|pro  |Bestand frei|
|------------------|----------------------------------------|---------|---|----------|-----|-----|------------|
|100-100           |Gehäuse Pumpe                           |001      |ST |    112,50|EUR  |    1|      35,000|
|100-110           |Schlackegußgehäuse                      |001      |ST |    100,00|EUR  |  100|       0,000|
|Y-351             |Kabel 3x1,5                             |014      |M  |      0,89|EUR  |    1|   1.250,000|
""",
        """
sku     | title              | unit      | price  | cur | stock
100-100 | Gehäuse Pumpe      | piece     | 112.50 | EUR | 35
100-110 | Schlackegußgehäuse | 100 piece | 100.00 | EUR | 0
Y-351   | Kabel 3x1,5        | m         | 0.89   | EUR | 1250
""",
        "iso-8859-1",
    ),
    case(
        "datev-like",
        KIND,
        """
"EXTF";700;50;"Artikelstamm";2;20261116101500;;"RE";"";"";29098;55003
"Artikelnummer";"Bezeichnung";"Mengeneinheit";"Verkaufspreis netto";"Steuersatz";"Einkaufspreis";"Warengruppe"
"4711";"Druckerpapier A4 80g";"Pack";4,49;19;2,98;"Papier"
"4712";"Briefumschlag DL";"Karton";18,90;19;11,20;"Papier"
"4713";"Fachbuch Steuerrecht";"Stück";39,00;7;28,00;"Bücher"
""",
        """
sku  | title                | unit  | price | gross | tax | cost  | category
4711 | Druckerpapier A4 80g | pack  | 4.49  | no    | 19  | 2.98  | Papier
4712 | Briefumschlag DL     | carton | 18.90 | no   | 19  | 11.20 | Papier
4713 | Fachbuch Steuerrecht | piece | 39.00 | no    | 7   | 28.00 | Bücher
""",
        "windows-1252",
    ),
    case(
        "lexware-like",
        KIND,
        """
Artikel-Nr.;Matchcode;Bezeichnung 1;Bezeichnung 2;Einheit;EK-Preis;VK1 netto;VK1 brutto;Lagerbestand;Mindestbestand;EAN-Code;Hersteller
A1001;BOHRER;Bohrmaschine 650 W;mit Koffer;Stk;41,20;67,14;79,90;12;5;4006381333931;Boldt
A1002;SAEGE;Stichsäge 500 W;;Stk;33,00;54,54;64,90;0;5;;Boldt
""",
        """
sku   | title              | unit  | cost  | price | gross | stock | gtin          | brand
A1001 | Bohrmaschine 650 W | piece | 41.20 | 67.14 | no    | 12    | 4006381333931 | Boldt
A1002 | Stichsäge 500 W    | piece | 33.00 | 54.54 | no    | 0     |               | Boldt
""",
    ),
    case(
        "bmecat-2005",
        KIND,
        """
<?xml version="1.0" encoding="UTF-8"?>
<BMECAT version="2005" xmlns="http://www.bmecat.org/bmecat/2005"><HEADER><CATALOG><LANGUAGE>deu</LANGUAGE><CATALOG_ID>Q1</CATALOG_ID><CATALOG_VERSION>1.0</CATALOG_VERSION><CURRENCY>EUR</CURRENCY></CATALOG></HEADER>
<T_NEW_CATALOG>
<PRODUCT><SUPPLIER_PID>K-7</SUPPLIER_PID><PRODUCT_DETAILS><DESCRIPTION_SHORT>Kabelbinder 200 mm</DESCRIPTION_SHORT><DESCRIPTION_LONG>Schwarz, UV-fest</DESCRIPTION_LONG><INTERNATIONAL_PID type="gtin">4006381333931</INTERNATIONAL_PID><MANUFACTURER_PID>KB200S</MANUFACTURER_PID><MANUFACTURER_NAME>Bindefix</MANUFACTURER_NAME><DELIVERY_TIME>3</DELIVERY_TIME></PRODUCT_DETAILS>
<PRODUCT_ORDER_DETAILS><ORDER_UNIT>PK</ORDER_UNIT><CONTENT_UNIT>C62</CONTENT_UNIT><NO_CU_PER_OU>100</NO_CU_PER_OU><QUANTITY_MIN>1</QUANTITY_MIN></PRODUCT_ORDER_DETAILS>
<PRODUCT_PRICE_DETAILS><PRODUCT_PRICE price_type="net_customer"><PRICE_AMOUNT>4.20</PRICE_AMOUNT><PRICE_CURRENCY>EUR</PRICE_CURRENCY><TAX>0.19</TAX></PRODUCT_PRICE></PRODUCT_PRICE_DETAILS></PRODUCT>
<PRODUCT><SUPPLIER_PID>K-8</SUPPLIER_PID><PRODUCT_DETAILS><DESCRIPTION_SHORT>Schrumpfschlauch Set</DESCRIPTION_SHORT><MANUFACTURER_PID>SS1</MANUFACTURER_PID><MANUFACTURER_NAME>Bindefix</MANUFACTURER_NAME><DELIVERY_TIME>10</DELIVERY_TIME></PRODUCT_DETAILS>
<PRODUCT_ORDER_DETAILS><ORDER_UNIT>C62</ORDER_UNIT><QUANTITY_MIN>5</QUANTITY_MIN></PRODUCT_ORDER_DETAILS>
<PRODUCT_PRICE_DETAILS><PRODUCT_PRICE price_type="net_customer"><PRICE_AMOUNT>12.95</PRICE_AMOUNT><PRICE_CURRENCY>EUR</PRICE_CURRENCY><TAX>0.19</TAX></PRODUCT_PRICE></PRODUCT_PRICE_DETAILS></PRODUCT>
</T_NEW_CATALOG></BMECAT>
""",
        """
sku | title                | gtin          | mpn    | brand    | lead | price | cur | tax | min
K-7 | Kabelbinder 200 mm   | 4006381333931 | KB200S | Bindefix | 3    | 4.20  | EUR | 19  | 1
K-8 | Schrumpfschlauch Set |               | SS1    | Bindefix | 10   | 12.95 | EUR | 19  | 5
""",
    ),
    case(
        "datanorm-like",
        KIND,
        """
Satzart;Artikelnummer;Kurztext 1;Kurztext 2;Preiskennzeichen;Preiseinheit;Mengeneinheit;Preis;Rabattgruppe
A;9001;Kupferrohr 15x1;Stange 5 m;1;1;m;7,85;K15
A;9002;Bogen 90 Grad 15 mm;;1;100;Stck;142,00;K20
""",
        """
sku  | title               | unit      | price  | dgroup
9001 | Kupferrohr 15x1     | m         | 7.85   | K15
9002 | Bogen 90 Grad 15 mm | 100 piece | 142.00 | K20
""",
    ),
    case(
        "pricat-flat",
        KIND,
        """
GTIN        ARTNO     DESCRIPTION               BRAND      PRICE CUR  QTY
3017620422003NUT-400  Hazelnut spread 400 g     Nussi       3.99 EUR  120
5449000000996COL-33   Cola can 330 ml           Bebo        0.79 EUR 4800
8000500037560WAF-90   Wafer bar 90 g            Nussi       1.15 EUR    0
""",
        """
gtin          | sku     | title                 | brand | price | cur | stock
3017620422003 | NUT-400 | Hazelnut spread 400 g | Nussi | 3.99  | EUR | 120
5449000000996 | COL-33  | Cola can 330 ml       | Bebo  | 0.79  | EUR | 4800
8000500037560 | WAF-90  | Wafer bar 90 g        | Nussi | 1.15  | EUR | 0
""",
    ),
    case(
        "sage-uk",
        KIND,
        """
"Product Code","Description","Category","Cost Price","Sales Price","Unit of Sale","Supplier A/C","Supplier Part No","Tax Code","Qty in Stock","Qty on Order","Barcode"
"BRK-001","Brake pad set front","Brakes","18.40","32.99","Each","AUT001","P-88120","T1","14","0","5012345678900"
"BRK-002","Brake disc 280mm","Brakes","22.10","41.50","Each","AUT001","P-88300","T1","0","6",""
""",
        """
sku     | title               | category | cost  | price | stock | gtin
BRK-001 | Brake pad set front | Brakes   | 18.40 | 32.99 | 14    | 5012345678900
BRK-002 | Brake disc 280mm    | Brakes   | 22.10 | 41.50 | 0     |
""",
    ),
    case(
        "quickbooks-us",
        KIND,
        """
Item,Description,Type,Cost,Price,Sales Tax Code,Quantity On Hand,U/M,Manufacturer's Part Number,Preferred Vendor
Hardware:Door knob brass,"Door knob, brass",Inventory Part,"$6.25","$11.99",Tax,"1,204",ea,DK-BR,Patton Supply
Hardware:Hinge 3 in,"Hinge, 3 in",Inventory Part,"$1.10","$2.49",Tax,310,ea,HN-3,Patton Supply
""",
        """
title            | cost | price | cur | stock | unit  | mpn   | supplier
Door knob, brass | 6.25 | 11.99 | USD | 1204  | piece | DK-BR | Patton Supply
Hinge, 3 in      | 1.10 | 2.49  | USD | 310   | piece | HN-3  | Patton Supply
""",
    ),
    case(
        "dynamics-nav-nl",
        KIND,
        """
Nr.;Omschrijving;Basiseenheid;Kostprijs;Eenheidsprijs excl. btw;Voorraad;Leveranciersnr.;Artikelnr. leverancier;Productgroep;GTIN
1896-S;ATHENE bureau;STUKS;780,70;1.000,80;4;30000;ATH-1;MEUBEL;8710400100010
1900-S;PARIJS gastenstoel, zwart;STUKS;147,60;192,80;73;30000;PAR-9;STOEL;
""",
        """
sku    | title                     | unit  | cost   | price   | gross | stock | category | gtin
1896-S | ATHENE bureau             | piece | 780.70 | 1000.80 | no    | 4     | MEUBEL   | 8710400100010
1900-S | PARIJS gastenstoel, zwart | piece | 147.60 | 192.80  | no    | 73    | STOEL    |
""",
    ),
    case(
        "json-by-columns",
        "JSON",
        """
{"sku": ["PT-1", "PT-2", "PT-3"], "name": ["Azulejo azul", "Azulejo branco", "Cimento 25 kg"], "price": [12.5, 11, 6.95], "currency": ["EUR", "EUR", "EUR"], "stock": [40, 0, 310]}
""",
        """
sku  | title          | price | cur | stock
PT-1 | Azulejo azul   | 12.50 | EUR | 40
PT-2 | Azulejo branco | 11.00 | EUR | 0
PT-3 | Cimento 25 kg  | 6.95  | EUR | 310
""",
    ),
    case(
        "json-pandas-columns",
        "JSON",
        """
{"article": {"0": "T-10", "1": "T-11"}, "title": {"0": "Tornillo M6", "1": "Tuerca M6"}, "price": {"0": 0.12, "1": 0.05}, "stock": {"0": 5000, "1": 8000}}
""",
        """
sku  | title       | price | stock
T-10 | Tornillo M6 | 0.12  | 5000
T-11 | Tuerca M6   | 0.05  | 8000
""",
    ),
    case(
        "json-columns-and-rows",
        "JSON",
        """
{"supplier": "Nordkabel", "columns": ["sku", "title", "price", "stock"], "data": [["NK-1", "Kabel 2 m", 4.9, 12], ["NK-2", "Kabel 5 m", 8.9, 0]]}
""",
        """
sku  | title     | price | stock
NK-1 | Kabel 2 m | 4.90  | 12
NK-2 | Kabel 5 m | 8.90  | 0
""",
    ),
    case(
        "json-keyed-by-sku",
        "JSON",
        """
{"products": {"RO-1": {"title": "Ciocan 500 g", "price": {"amount": "34.90", "currency": "RON"}, "stock": 7}, "RO-2": {"title": "Clește 180 mm", "price": {"amount": "29.50", "currency": "RON"}, "stock": 0}}}
""",
        """
sku  | title         | price | cur | stock
RO-1 | Ciocan 500 g  | 34.90 | RON | 7
RO-2 | Clește 180 mm | 29.50 | RON | 0
""",
    ),
    case(
        "gs1-one-item",
        "XML",
        """
<?xml version="1.0"?>
<catalogueItem><tradeItem><gtin>4006381333931</gtin><tradeItemDescription>Textmarker gelb</tradeItemDescription><brandName>Markfix</brandName><netWeight measurementUnitCode="GRM">14</netWeight><files><file>a.jpg</file><file>b.jpg</file></files></tradeItem></catalogueItem>
""",
        """
gtin          | title           | brand
4006381333931 | Textmarker gelb | Markfix
""",
    ),
    case(
        "heureka-cz",
        "XML",
        """
<?xml version="1.0" encoding="utf-8"?>
<SHOP>
<SHOPITEM><ITEM_ID>CZ100</ITEM_ID><PRODUCTNAME>Nerezový hrnec 5 l</PRODUCTNAME><DESCRIPTION>S poklicí</DESCRIPTION><URL>https://obchod.invalid/cz100</URL><IMGURL>https://obchod.invalid/cz100.jpg</IMGURL><PRICE_VAT>1 249,00</PRICE_VAT><VAT>21%</VAT><MANUFACTURER>Kolimax</MANUFACTURER><CATEGORYTEXT>Kuchyně | Hrnce</CATEGORYTEXT><EAN>8590000000015</EAN><DELIVERY_DATE>0</DELIVERY_DATE></SHOPITEM>
<SHOPITEM><ITEM_ID>CZ101</ITEM_ID><PRODUCTNAME>Pánev 28 cm</PRODUCTNAME><DESCRIPTION>Litina</DESCRIPTION><URL>https://obchod.invalid/cz101</URL><IMGURL>https://obchod.invalid/cz101.jpg</IMGURL><PRICE_VAT>899</PRICE_VAT><VAT>21%</VAT><MANUFACTURER>Kolimax</MANUFACTURER><CATEGORYTEXT>Kuchyně | Pánve</CATEGORYTEXT><DELIVERY_DATE>3</DELIVERY_DATE></SHOPITEM>
</SHOP>
""",
        """
id    | title              | price   | gross | tax | brand   | category        | url                          | image                            | lead
CZ100 | Nerezový hrnec 5 l | 1249.00 | yes   | 21  | Kolimax | Kuchyně > Hrnce | https://obchod.invalid/cz100 | https://obchod.invalid/cz100.jpg | 0
CZ101 | Pánev 28 cm        | 899.00  | yes   | 21  | Kolimax | Kuchyně > Pánve | https://obchod.invalid/cz101 | https://obchod.invalid/cz101.jpg | 3
""",
    ),
    case(
        "ceneo-pl",
        "XML",
        """
<?xml version="1.0" encoding="utf-8"?>
<offers version="1"><o id="501" url="https://sklep.invalid/501" price="149.90" avail="1" weight="1.2" stock="8"><cat><![CDATA[Narzędzia/Wiertarki]]></cat><name><![CDATA[Wiertarka udarowa 750 W]]></name><imgs><main url="https://sklep.invalid/501.jpg"/></imgs><attrs><a name="Producent"><![CDATA[Wiertex]]></a><a name="EAN"><![CDATA[5901234123457]]></a></attrs></o>
<o id="502" url="https://sklep.invalid/502" price="39.00" avail="99" weight="0.3" stock="0"><cat><![CDATA[Narzędzia/Młotki]]></cat><name><![CDATA[Młotek 300 g]]></name><imgs><main url="https://sklep.invalid/502.jpg"/></imgs><attrs><a name="Producent"><![CDATA[Kowal]]></a></attrs></o></offers>
""",
        """
id  | title                   | price  | stock | category              | url                        | image
501 | Wiertarka udarowa 750 W | 149.90 | 8     | Narzędzia > Wiertarki | https://sklep.invalid/501  | https://sklep.invalid/501.jpg
502 | Młotek 300 g            | 39.00  | 0     | Narzędzia > Młotki    | https://sklep.invalid/502  | https://sklep.invalid/502.jpg
""",
    ),
    book(
        "netsuite-xlsx",
        KIND,
        {
            "Notes": [
                ["Exported from inventory"],
                ["Contact: warehouse"],
                ["Do not edit"],
                ["Line 4"],
                ["Line 5"],
                ["Line 6"],
                ["Line 7"],
                ["Line 8"],
            ],
            "ItemResults": [
                [
                    "Internal ID",
                    "Name",
                    "Display Name",
                    "Base Price",
                    "Average Cost",
                    "Quantity Available",
                    "UPC Code",
                    "Inactive",
                ],
                [2201, "HDR-01", "Headrest grey", 129.0, 64.2, 9, "036000291452", "No"],
                [2202, "HDR-02", "Headrest black", 139.0, 66.0, 0, None, "Yes"],
            ],
        },
        """
id   | title          | price  | cost  | stock | gtin         | published
2201 | Headrest grey  | 129.00 | 64.20 | 9     | 036000291452 | yes
2202 | Headrest black | 139.00 | 66.00 | 0     |              | no
""",
    ),
]
