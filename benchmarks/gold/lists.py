"""Price lists of suppliers in many countries."""

from __future__ import annotations

from benchmarks.gold.case import book, case

KIND = "price list"

LISTS = [
    case(
        "fr-quincaillerie",
        KIND,
        """
QUINCAILLERIE DU MIDI - TARIF PROFESSIONNEL
Tarif valable du 01/10/2026 au 31/12/2026 - Prix en euros HT

Réf.;Désignation;Marque;Cond.;PU HT;TVA;Code-barres;Dispo
V100;Vis à bois 4x40 (boîte de 200);Fixo;1;8,95;20%;3017620422003;En stock
V101;Cheville nylon 8 mm;Fixo;100;0,06;20%;;Rupture
V102;Perceuse à percussion 850 W;Mako;1;1 049,00;20%;;Sur commande

Conditions : franco de port à partir de 300 €
""",
        """
sku  | title                          | brand | price   | cur | gross | tax | gtin          | status
V100 | Vis à bois 4x40 (boîte de 200) | Fixo  | 8.95    | EUR | no    | 20  | 3017620422003 | in_stock
V101 | Cheville nylon 8 mm            | Fixo  | 0.06    | EUR | no    | 20  |               | out_of_stock
V102 | Perceuse à percussion 850 W    | Mako  | 1049.00 | EUR | no    | 20  |               | backorder
""",
        "windows-1252",
    ),
    case(
        "it-listino-sconti",
        KIND,
        """
Codice;Descrizione;Marca;Prezzo di listino;Sconto %;Prezzo netto;UM;Giacenza
IT-10;Rubinetto monocomando cromo;Acquafin;89,00;35;57,85;PZ;14
IT-11;Sifone bottiglia 1"1/4;Acquafin;12,40;40;7,44;PZ;0
IT-12;Tubo multistrato 16x2;Tubor;1,90;25;1,43;MT;1.200
""",
        """
sku   | title                       | brand    | list  | price | unit  | stock
IT-10 | Rubinetto monocomando cromo | Acquafin | 89.00 | 57.85 | piece | 14
IT-11 | Sifone bottiglia 1"1/4      | Acquafin | 12.40 | 7.44  | piece | 0
IT-12 | Tubo multistrato 16x2       | Tubor    | 1.90  | 1.43  | m     | 1200
""",
    ),
    case(
        "de-rabatt-ohne-netto",
        KIND,
        """
Art.-Nr.;Bezeichnung;Listenpreis EUR;Rabatt %
R-1;Akkuschrauber 18 V;199,00;20
R-2;Bitsatz 32-tlg.;24,90;35
R-3;Ersatzakku 4 Ah;79,00;0
""",
        """
sku | title              | list   | price  | cur
R-1 | Akkuschrauber 18 V | 199.00 | 159.20 | EUR
R-2 | Bitsatz 32-tlg.    | 24.90  | 16.19  | EUR
R-3 | Ersatzakku 4 Ah    | 79.00  | 79.00  | EUR
""",
    ),
    case(
        "es-tarifa",
        KIND,
        """
Referencia;Denominación;Familia;PVP;Dto.;Coste;IVA;Stock;Plazo entrega
E-500;Taladro percutor 710 W;Herramienta eléctrica;79,90 €;;48,20 €;21;6;24/48 h
E-501;Juego brocas SDS (5 uds);Accesorios;14,95 €;;7,10 €;21;0;2 semanas
""",
        """
sku   | title                    | category              | price | cur | cost  | tax | stock
E-500 | Taladro percutor 710 W   | Herramienta eléctrica | 79.90 | EUR | 48.20 | 21  | 6
E-501 | Juego brocas SDS (5 uds) | Accesorios            | 14.95 | EUR | 7.10  | 21  | 0
""",
    ),
    case(
        "nl-staffel",
        KIND,
        """
Artikelnummer;Omschrijving;Merk;EAN;Prijs per stuk;Prijs vanaf 10;Prijs vanaf 50;Levertijd
NL-01;LED-lamp E27 8W;Licht;8710400100010;€ 4,95;€ 4,50;€ 3,95;1-2 werkdagen
NL-02;Verlengsnoer 5 m;Snoer;;€ 12,50;€ 11,75;€ 10,90;5 werkdagen
""",
        """
sku   | title            | brand | gtin          | price | cur | tiers
NL-01 | LED-lamp E27 8W  | Licht | 8710400100010 | 4.95  | EUR | 1:4.95 10:4.50 50:3.95
NL-02 | Verlengsnoer 5 m | Snoer |               | 12.50 | EUR | 1:12.50 10:11.75 50:10.90
""",
    ),
    case(
        "cz-cenik",
        KIND,
        """
Kód;Název zboží;Výrobce;Cena bez DPH;Cena s DPH;Sazba DPH;Skladem;MJ;EAN
CZ-1;Šroubovák plochý 5x100;Narex;99,17;120,00;21;45;ks;8590000000015
CZ-2;Kleště kombinované;Narex;289,26;350,00;21;0;ks;
CZ-3;Lak na dřevo 0,75 l;Balakryl;247,93;300,00;21;12;ks;
""",
        """
sku  | title                  | brand    | price  | gross | tax | stock | unit  | gtin
CZ-1 | Šroubovák plochý 5x100 | Narex    | 99.17  | no    | 21  | 45    | piece | 8590000000015
CZ-2 | Kleště kombinované     | Narex    | 289.26 | no    | 21  | 0     | piece |
CZ-3 | Lak na dřevo 0,75 l    | Balakryl | 247.93 | no    | 21  | 12    | piece |
""",
        "windows-1250",
    ),
    case(
        "se-prislista",
        KIND,
        """
Artikelnr;Benämning;Varumärke;Pris exkl. moms;Rek. pris;Lagersaldo;Enhet;Leveranstid
S-100;Skruvdragare 12V;Bosse;1 295,00 kr;1 899,00 kr;23 st;st;2-4 dagar
S-101;Slipskiva 125 mm;Bosse;19,50 kr;29,00 kr;0 st;st;1 vecka
""",
        """
sku   | title            | brand | price   | cur | rrp     | gross | stock | unit
S-100 | Skruvdragare 12V | Bosse | 1295.00 | SEK | 1899.00 | no    | 23    | piece
S-101 | Slipskiva 125 mm | Bosse | 19.50   | SEK | 29.00   | no    | 0     | piece
""",
    ),
    case(
        "pt-tabela",
        KIND,
        """
Código;Descrição;Marca;Preço s/ IVA;IVA;Preço c/ IVA;Existências
PT-77;Martelo de orelhas;Ferro;9,76;23%;12,00;18
PT-78;Chave inglesa 10";Ferro;14,63;23%;18,00;0
""",
        """
sku   | title              | brand | price | gross | tax | stock
PT-77 | Martelo de orelhas | Ferro | 9.76  | no    | 23  | 18
PT-78 | Chave inglesa 10"  | Ferro | 14.63 | no    | 23  | 0
""",
    ),
    case(
        "tr-fiyat-listesi",
        KIND,
        """
Stok Kodu;Ürün Adı;Marka;Birim;Liste Fiyatı (TL);İskonto (%);Net Fiyat (TL);Stok Miktarı;Barkod
TR-1;Şarjlı matkap 14,4 V;Güçlü;Adet;2.499,00;30;1.749,30;15;8690000000012
TR-2;Çekiç 500 gr;Güçlü;Adet;189,90;30;132,93;0;
""",
        """
sku  | title                | brand | unit  | list    | price   | cur | stock | gtin
TR-1 | Şarjlı matkap 14,4 V | Güçlü | piece | 2499.00 | 1749.30 | TRY | 15    | 8690000000012
TR-2 | Çekiç 500 gr         | Güçlü | piece | 189.90  | 132.93  | TRY | 0     |
""",
        "iso-8859-9",
    ),
    case(
        "hu-arlista",
        KIND,
        """
Cikkszám;Megnevezés;Gyártó;Nettó ár (Ft);Bruttó ár (Ft);ÁFA;Készlet;Vonalkód
HU-1;Csavarhúzó készlet 6 db;Extol;2 992;3 800;27%;11;5990000000016
HU-2;Fűrész 450 mm;Extol;3 543;4 500;27%;nincs készleten;
""",
        """
sku  | title                   | brand | price   | cur | gross | tax | gtin          | status
HU-1 | Csavarhúzó készlet 6 db | Extol | 2992.00 | HUF | no    | 27  | 5990000000016 | in_stock
HU-2 | Fűrész 450 mm           | Extol | 3543.00 | HUF | no    | 27  |               | out_of_stock
""",
        "windows-1250",
    ),
    case(
        "ro-lista-preturi",
        KIND,
        """
Cod produs,Denumire produs,Producător,Preț fără TVA,Preț cu TVA,Monedă,Stoc,Cod EAN
RO-9,"Bormașină 600 W, cu percuție",Dedra,"184,87","220,00",RON,9,5941234567899
RO-10,Set burghie,Dedra,"33,61","40,00",RON,0,
""",
        """
sku   | title                        | brand | price  | cur | gross | stock
RO-9  | Bormașină 600 W, cu percuție | Dedra | 184.87 | RON | no    | 9
RO-10 | Set burghie                  | Dedra | 33.61  | RON | no    | 0
""",
    ),
    case(
        "dk-prisliste",
        KIND,
        """
Varenr.;Varenavn;Producent;Indkøbspris;Vejl. pris inkl. moms;Lager;EAN-nr.
DK-1;Havesaks 20 cm;Grøn;89,50;179,95;34;5701234567899
DK-2;Rive med skaft;Grøn;64,00;129,95;0;
""",
        """
sku  | title          | brand | price | rrp    | stock
DK-1 | Havesaks 20 cm | Grøn  | 89.50 | 179.95 | 34
DK-2 | Rive med skaft | Grøn  | 64.00 | 129.95 | 0
""",
    ),
    case(
        "fi-hinnasto",
        KIND,
        """
Tuotenumero;Tuotenimi;Valmistaja;Veroton hinta €;ALV %;Varastosaldo;Yksikkö
FI-1;Kirves 1,2 kg;Terä;45,16;25,5;8;kpl
FI-2;Saha 60 cm;Terä;29,80;25,5;0;kpl
""",
        """
sku  | title         | brand | price | cur | gross | tax  | stock | unit
FI-1 | Kirves 1,2 kg | Terä  | 45.16 | EUR | no    | 25.5 | 8     | piece
FI-2 | Saha 60 cm    | Terä  | 29.80 | EUR | no    | 25.5 | 0     | piece
""",
    ),
    case(
        "no-prisliste",
        KIND,
        """
Varenummer;Beskrivelse;Leverandør;Nettopris;Veil. utsalgspris;På lager;Forpakning
NO-1;Vinterjakke herre;Fjell AS;NOK 899,00;NOK 1 799,00;12;1
NO-2;Ullsokker 3-pk;Fjell AS;NOK 99,00;NOK 199,00;0;3
""",
        """
sku  | title             | supplier | price  | cur | rrp     | stock
NO-1 | Vinterjakke herre | Fjell AS | 899.00 | NOK | 1799.00 | 12
NO-2 | Ullsokker 3-pk    | Fjell AS | 99.00  | NOK | 199.00  | 0
""",
    ),
    case(
        "gr-timokatalogos",
        KIND,
        """
Κωδικός;Περιγραφή;Μάρκα;Τιμή χονδρικής;Λιανική τιμή;Απόθεμα
GR-1;Δράπανο κρουστικό 600W;Ήλιος;42,50 €;69,90 €;5
GR-2;Σφυρί 300 γρ.;Ήλιος;6,10 €;9,90 €;0
""",
        """
sku  | title                  | brand | cur | stock
GR-1 | Δράπανο κρουστικό 600W | Ήλιος | EUR | 5
GR-2 | Σφυρί 300 γρ.          | Ήλιος | EUR | 0
""",
    ),
    case(
        "uk-trade",
        KIND,
        """
Code,Product,RRP (inc VAT),Trade (ex VAT),Case Qty,MOQ,Barcode,Lead time
UK-1,Garden fork,£34.99,£17.50,6,6,5012345678900,3 working days
UK-2,Hand trowel,£9.99,£4.85,12,12,,In stock
""",
        """
sku  | title       | rrp   | price | cur | gross | min | gtin
UK-1 | Garden fork | 34.99 | 17.50 | GBP | no    | 6   | 5012345678900
UK-2 | Hand trowel | 9.99  | 4.85  | GBP | no    | 12  |
""",
    ),
    book(
        "ua-prais",
        KIND,
        {
            "Прайс": [
                ["Прайс-лист ТОВ «Інструмент»"],
                [],
                ["Артикул", "Найменування", "Виробник", "Ціна, грн", "Залишок", "Од. вим."],
                ["UA-1", "Молоток 500 г", "Сталь", 245.5, 12, "шт"],
                ["UA-2", "Викрутка PH2", "Сталь", 89, 0, "шт"],
            ]
        },
        """
sku  | title         | brand | price  | cur | stock | unit
UA-1 | Молоток 500 г | Сталь | 245.50 | UAH | 12    | piece
UA-2 | Викрутка PH2  | Сталь | 89.00  | UAH | 0     | piece
""",
    ),
]
