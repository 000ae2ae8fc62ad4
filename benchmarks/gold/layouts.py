"""Tables with an unusual layout: headings between rows, turned tables, a column per size."""

from __future__ import annotations

from benchmarks.gold.case import book, case

KIND = "layout"

LAYOUTS = [
    case(
        "headings-as-category",
        KIND,
        """
Art.-Nr.;Bezeichnung;Preis EUR;Bestand
Werkzeuge;;;
W-1;Hammer 300 g;12,90;4
W-2;Zange 180 mm;15,50;0
Schrauben;;;
S-1;Holzschraube 4x40;0,08;5000
S-2;Blechschraube 3,9x13;0,05;9000
Farben & Lacke;;;
F-1;Weißlack 750 ml;14,95;11
""",
        """
sku | title                | price | cur | stock | category
W-1 | Hammer 300 g         | 12.90 | EUR | 4     | Werkzeuge
W-2 | Zange 180 mm         | 15.50 | EUR | 0     | Werkzeuge
S-1 | Holzschraube 4x40    | 0.08  | EUR | 5000  | Schrauben
S-2 | Blechschraube 3,9x13 | 0.05  | EUR | 9000  | Schrauben
F-1 | Weißlack 750 ml      | 14.95 | EUR | 11    | Farben & Lacke
""",
    ),
    book(
        "headings-merged-xlsx",
        KIND,
        {
            "Tarif": [
                ["Tarif 2026", None, None, None],
                ["Référence", "Désignation", "Prix HT", "Stock"],
                [None, "PLOMBERIE", None, None],
                ["P-1", "Robinet 1/2", 9.9, 3],
                ["P-2", "Coude laiton 15", 2.35, 40],
                ["P-3", "Joint torique", 0.2, 900],
                [None, "ÉLECTRICITÉ", None, None],
                ["E-1", "Disjoncteur 16 A", 7.4, 22],
                ["E-2", "Boîte de dérivation", 1.8, 60],
            ]
        },
        """
sku | title               | price | gross | stock | category
P-1 | Robinet 1/2         | 9.90  | no    | 3     | PLOMBERIE
P-2 | Coude laiton 15     | 2.35  | no    | 40    | PLOMBERIE
P-3 | Joint torique       | 0.20  | no    | 900   | PLOMBERIE
E-1 | Disjoncteur 16 A    | 7.40  | no    | 22    | ÉLECTRICITÉ
E-2 | Boîte de dérivation | 1.80  | no    | 60    | ÉLECTRICITÉ
""",
    ),
    case(
        "heading-with-label",
        KIND,
        """
SKU,Name,Price,Stock
Brand: Nordlys,,,
N-1,Candle white,3.90,12
N-2,Candle red,3.90,8
Brand: Solveig,,,
S-1,Lantern small,19.00,2
S-2,Lantern large,29.00,0
""",
        """
sku | title         | price | stock | brand
N-1 | Candle white  | 3.90  | 12    | Nordlys
N-2 | Candle red    | 3.90  | 8     | Nordlys
S-1 | Lantern small | 19.00 | 2     | Solveig
S-2 | Lantern large | 29.00 | 0     | Solveig
""",
    ),
    case(
        "transposed",
        KIND,
        """
Artikelnummer;T-100;T-200;T-300;T-400
Bezeichnung;Tisch klein;Tisch mittel;Tisch groß;Tisch rund
Preis (EUR);129,00;159,00;199,00;219,00
Bestand;4;0;2;7
EAN;4006381333931;4006381333948;;
""",
        """
sku   | title        | price  | cur | stock | gtin
T-100 | Tisch klein  | 129.00 | EUR | 4     | 4006381333931
T-200 | Tisch mittel | 159.00 | EUR | 0     | 4006381333948
T-300 | Tisch groß   | 199.00 | EUR | 2     |
T-400 | Tisch rund   | 219.00 | EUR | 7     |
""",
    ),
    book(
        "transposed-xlsx",
        KIND,
        {
            "Comparison": [
                ["SKU", "LP-13", "LP-15", "LP-17"],
                ["Product name", "Laptop 13 inch", "Laptop 15 inch", "Laptop 17 inch"],
                ["Brand", "Orbit", "Orbit", "Orbit"],
                ["Price USD", 899, 1099.5, 1399],
                ["Weight (kg)", 1.2, 1.6, 2.3],
                ["Stock", 14, 3, 0],
            ]
        },
        """
sku   | title          | brand | price   | cur | weight | stock
LP-13 | Laptop 13 inch | Orbit | 899.00  | USD | 1.2 kg | 14
LP-15 | Laptop 15 inch | Orbit | 1099.50 | USD | 1.6 kg | 3
LP-17 | Laptop 17 inch | Orbit | 1399.00 | USD | 2.3 kg | 0
""",
    ),
    case(
        "size-matrix-stock",
        KIND,
        """
Style,Name,Colour,Price,XS,S,M,L,XL
D-10,Summer dress,Blue,49.90,0,3,5,2,0
D-11,Linen trousers,Sand,59.90,1,1,4,4,2
""",
        """
sku  | title          | price | stock | variants
D-10 | Summer dress   | 49.90 | 10    | color=Blue size=XS 49.90 x0; color=Blue size=S 49.90 x3; color=Blue size=M 49.90 x5; color=Blue size=L 49.90 x2; color=Blue size=XL 49.90 x0
D-11 | Linen trousers | 59.90 | 12    | color=Sand size=XS 59.90 x1; color=Sand size=S 59.90 x1; color=Sand size=M 59.90 x4; color=Sand size=L 59.90 x4; color=Sand size=XL 59.90 x2
""",
    ),
    case(
        "size-matrix-shoes",
        KIND,
        """
Modèle;Désignation;PVC;36;37;38;39;40;41
CH-1;Basket toile blanche;39,90;2;4;6;6;3;
CH-2;Botte cuir noir;119,00;;1;2;2;1;1
""",
        """
sku  | title                | stock | variants
CH-1 | Basket toile blanche | 21    | size=36 39.90 x2; size=37 39.90 x4; size=38 39.90 x6; size=39 39.90 x6; size=40 39.90 x3
CH-2 | Botte cuir noir      | 7     | size=37 119.00 x1; size=38 119.00 x2; size=39 119.00 x2; size=40 119.00 x1; size=41 119.00 x1
""",
    ),
    book(
        "two-header-lines",
        KIND,
        {
            "Liste": [
                ["Artikel", None, "Preise in CHF", None, "Lager", None],
                ["Nummer", "Bezeichnung", "Einkauf", "Verkauf", "Zürich", "Bern"],
                ["CH-1", "Sackmesser", 14.2, 24.9, 10, 4],
                ["CH-2", "Käsereibe", 8.1, 15.5, 0, 3],
            ]
        },
        """
sku  | title      | cost  | price | cur
CH-1 | Sackmesser | 14.20 | 24.90 | CHF
CH-2 | Käsereibe  | 8.10  | 15.50 | CHF
""",
    ),
    case(
        "units-row",
        KIND,
        """
Part no,Description,Weight,Length,Price
,,kg,mm,EUR
PN-1,Steel rod,2.4,1000,18.20
PN-2,Steel plate,7.1,500,34.00
PN-3,Angle bracket,0.3,80,2.95
""",
        """
sku  | title         | weight | price | cur
PN-1 | Steel rod     | 2.4 kg | 18.20 | EUR
PN-2 | Steel plate   | 7.1 kg | 34.00 | EUR
PN-3 | Angle bracket | 0.3 kg | 2.95  | EUR
""",
    ),
    case(
        "several-tables",
        KIND,
        """
Contact,Phone
Anna,555-1000
Ben,555-1001

sku,name,price,stock
A-1,Rope 10 m,12.50,4
A-2,Rope 20 m,22.50,2
A-3,Hook,3.10,90
A-4,Pulley,14.00,6
A-5,Chain 1 m,7.25,30

Region,Freight
North,12.00
South,9.00
""",
        """
sku | title     | price | stock
A-1 | Rope 10 m | 12.50 | 4
A-2 | Rope 20 m | 22.50 | 2
A-3 | Hook      | 3.10  | 90
A-4 | Pulley    | 14.00 | 6
A-5 | Chain 1 m | 7.25  | 30
""",
    ),
    case(
        "same-header-with-titles",
        KIND,
        """
Taps
SKU,Name,Price,Stock
T-1,Kitchen tap,89.00,3
T-2,Basin tap,64.00,7

Showers
SKU,Name,Price,Stock
S-1,Hand shower,34.50,12
S-2,Shower rail,49.00,0
""",
        """
sku | title       | price | stock | category
T-1 | Kitchen tap | 89.00 | 3     | Taps
T-2 | Basin tap   | 64.00 | 7     | Taps
S-1 | Hand shower | 34.50 | 12    | Showers
S-2 | Shower rail | 49.00 | 0     | Showers
""",
    ),
    case(
        "footer-and-subtotals",
        KIND,
        """
Inventory valuation as of 2026-10-31
Prepared by: warehouse 3

Item no.,Item name,Qty,Unit cost,Value
B-1,Bearing 6204,40,3.10,124.00
B-2,Bearing 6205,25,3.60,90.00
Subtotal bearings,,65,,214.00
C-1,Seal 20x35,100,0.85,85.00
Total,,165,,299.00
Page 1 of 1
""",
        """
sku | title        | stock
B-1 | Bearing 6204 | 40
B-2 | Bearing 6205 | 25
C-1 | Seal 20x35   | 100
""",
    ),
    case(
        "tiers-quantity-columns",
        KIND,
        """
Cikkszám;Megnevezés;1 db;10 db;100 db
HT-1;Csavar M8;45 Ft;39 Ft;32 Ft
HT-2;Alátét M8;12 Ft;10 Ft;8 Ft
""",
        """
sku  | title     | price | cur | tiers
HT-1 | Csavar M8 | 45.00 | HUF | 1:45.00 10:39.00 100:32.00
HT-2 | Alátét M8 | 12.00 | HUF | 1:12.00 10:10.00 100:8.00
""",
    ),
    case(
        "padded-commas",
        KIND,
        """
sku    , name              , price  , stock
PC-1   , Shelf 80 cm       ,   24.00,     3
PC-2   , Shelf 120 cm      ,   34.00,    12
PC-30  , Bracket, pair     ,    6.50,   140
""".replace("Bracket, pair  ", "Bracket (pair) "),
        """
sku   | title          | price | stock
PC-1  | Shelf 80 cm    | 24.00 | 3
PC-2  | Shelf 120 cm   | 34.00 | 12
PC-30 | Bracket (pair) | 6.50  | 140
""",
    ),
    case(
        "aligned-text",
        KIND,
        """
ARTICLE     DESCRIPTION            PRICE EUR   STOCK
AT-1        Wall clock 30 cm           24.90      12
AT-22       Alarm clock                 9.95     104
AT-333      Grandfather clock       1,290.00       1
""",
        """
sku    | title             | price   | cur | stock
AT-1   | Wall clock 30 cm  | 24.90   | EUR | 12
AT-22  | Alarm clock       | 9.95    | EUR | 104
AT-333 | Grandfather clock | 1290.00 | EUR | 1
""",
    ),
    case(
        "html-report",
        KIND,
        """
<html><body><h1>Voorraadlijst</h1><table><tr><th>Artikel</th><th>Omschrijving</th><th>Prijs</th><th>Voorraad</th></tr>
<tr><td>H-1</td><td>Emmer 10 l</td><td>&euro; 3,95</td><td>40</td></tr>
<tr><td>H-2</td><td>Bezem</td><td>&euro; 7,50</td><td>0</td></tr></table></body></html>
""",
        """
sku | title      | price | cur | stock
H-1 | Emmer 10 l | 3.95  | EUR | 40
H-2 | Bezem      | 7.50  | EUR | 0
""",
    ),
]
