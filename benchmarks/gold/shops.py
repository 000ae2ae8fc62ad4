"""Exports of shop systems and marketplaces."""

from __future__ import annotations

from benchmarks.gold.case import case

KIND = "shop export"

SHOPS = [
    case(
        "shopify-draft",
        KIND,
        """
Handle,Title,Body (HTML),Vendor,Product Category,Type,Tags,Published,Option1 Name,Option1 Value,Option2 Name,Option2 Value,Variant SKU,Variant Grams,Variant Inventory Qty,Variant Price,Variant Compare At Price,Variant Barcode,Image Src,Variant Weight Unit,Cost per item,Status
linen-shirt,Linen shirt,<p>Airy <b>linen</b>.</p>,Fjordwear,Apparel & Accessories > Clothing > Shirts,Shirt,"summer, linen",true,Colour,Sand,Size,M,LS-S-M,240,4,59.00,79.00,4006381333931,https://cdn.invalid/ls1.jpg,g,21.50,active
linen-shirt,,,,,,,,,Sand,,L,LS-S-L,255,7,59.00,79.00,,https://cdn.invalid/ls2.jpg,g,22.50,
wool-cap,Wool cap,<p>Warm.</p>,Fjordwear,,Cap,,false,Title,Default Title,,,WC-1,90,0,24.50,,,https://cdn.invalid/wc.jpg,g,8.00,draft
""",
        """
id          | title       | brand     | category                                     | sku    | price | was   | cost  | stock | weight | images | published | variants
linen-shirt | Linen shirt | Fjordwear | Apparel & Accessories > Clothing > Shirts    | LS-S-M | 59.00 | 79.00 | 21.50 | 11    | 240 g  | 2      | yes       | LS-S-M Colour=Sand Size=M 59.00 x4; LS-S-L Colour=Sand Size=L 59.00 x7
wool-cap    | Wool cap    | Fjordwear | Cap                                          | WC-1   | 24.50 |       | 8.00  | 0     | 90 g   | 1      | no        |
""",
    ),
    case(
        "matrixify",
        KIND,
        """
ID,Handle,Command,Title,Body HTML,Vendor,Type,Tags,Status,Published,Top Row,Variant ID,Option1 Name,Option1 Value,Variant SKU,Variant Barcode,Variant Price,Variant Compare At Price,Variant Cost,Variant Inventory Qty,Variant Weight,Variant Weight Unit,Image Src,Image Position
801,mug-blue,MERGE,Blue mug,<p>300 ml</p>,Keram,Mugs,kitchen,Active,TRUE,TRUE,9001,Size,Small,MB-S,4006381333948,12.00,,4.10,30,310,g,https://cdn.invalid/m1.png,1
801,mug-blue,MERGE,,,,,,,,,9002,Size,Large,MB-L,,15.00,18.00,5.20,12,420,g,,
802,plate-white,MERGE,White plate,<p>26 cm</p>,Keram,Plates,"kitchen, white",Archived,FALSE,TRUE,9003,Title,Default Title,PW-26,,9.50,,3.00,0,0.6,kg,https://cdn.invalid/p1.png,1
""",
        """
id  | title       | brand | category | sku   | price | was | cost | stock | published | variants
801 | Blue mug    | Keram | Mugs     | MB-S  | 12.00 |     | 4.10 | 42    | yes       | MB-S Size=Small 12.00 x30; MB-L Size=Large 15.00 x12
802 | White plate | Keram | Plates   | PW-26 | 9.50  |     | 3.00 | 0     | no        |
""",
    ),
    case(
        "woocommerce-variable",
        KIND,
        """
ID,Type,SKU,"GTIN, UPC, EAN, or ISBN",Name,Published,"Is featured?","Visibility in catalog","Short description",Description,"Tax status","In stock?",Stock,"Weight (kg)","Length (cm)","Width (cm)","Height (cm)","Sale price","Regular price",Categories,Tags,Images,Parent,"Attribute 1 name","Attribute 1 value(s)","Attribute 1 visible","Attribute 1 global"
101,variable,TEE,,Organic tee,1,0,visible,Soft tee,<p>100 % cotton.</p>,taxable,1,,,,,,,,"Clothing > T-shirts, Sale","tee, cotton",https://shop.invalid/tee.jpg,,Size,"S, M, L",1,1
102,variation,TEE-S,4006381333955,Organic tee - S,1,0,visible,,,taxable,1,5,0.2,,,,,19.90,,,,TEE,Size,S,,1
103,variation,TEE-M,,Organic tee - M,1,0,visible,,,taxable,1,8,0.22,,,,14.90,19.90,,,,TEE,Size,M,,1
104,simple,MUG,,Camp mug,-1,0,visible,,Enamel,taxable,0,0,0.3,9,9,8,,12.50,Kitchen,,https://shop.invalid/mug.jpg,,,,,
""",
        """
id  | sku | title       | category            | price | was | stock | published | image                          | variants
101 | TEE | Organic tee | Clothing > T-shirts | 19.90 |     | 13    | yes       | https://shop.invalid/tee.jpg   | TEE-S Size=S 19.90 x5; TEE-M Size=M 14.90 x8
104 | MUG | Camp mug    | Kitchen             | 12.50 |     | 0     | no        | https://shop.invalid/mug.jpg   |
""",
    ),
    case(
        "magento2-configurable",
        KIND,
        """
sku,store_view_code,attribute_set_code,product_type,categories,product_websites,name,description,weight,product_online,tax_class_name,visibility,price,special_price,base_image,qty,is_in_stock,additional_attributes,configurable_variations
WH-01-XS,,Top,simple,"Default Category/Women/Tops,Default Category/Women",base,Mona Hoodie-XS,,1.1,1,Taxable Goods,Not Visible Individually,57.00,,/w/h/wh01.jpg,100,1,"color=Green,size=XS,manufacturer=Luma",
WH-01-S,,Top,simple,"Default Category/Women/Tops,Default Category/Women",base,Mona Hoodie-S,,1.1,1,Taxable Goods,Not Visible Individually,57.00,,/w/h/wh01.jpg,40,1,"color=Green,size=S,manufacturer=Luma",
WH-01,,Top,configurable,"Default Category/Women/Tops,Default Category/Women",base,Mona Hoodie,<p>Pullover hoodie.</p>,,1,Taxable Goods,"Catalog, Search",57.00,,/w/h/wh01.jpg,0,1,manufacturer=Luma,"sku=WH-01-XS,size=XS,color=Green|sku=WH-01-S,size=S,color=Green"
BAG-9,,Bag,simple,Default Category/Gear/Bags,base,Duffle bag,<p>45 l</p>,2,2,Taxable Goods,"Catalog, Search",34.00,29.00,/b/a/bag9.jpg,12,1,"manufacturer=Driven,material=Nylon",
""",
        """
sku   | title       | brand  | category               | price | stock | published | variants
WH-01 | Mona Hoodie | Luma   | Default Category > Women > Tops | 57.00 | 140 | yes  | WH-01-XS size=XS color=Green 57.00 x100; WH-01-S size=S color=Green 57.00 x40
BAG-9 | Duffle bag  | Driven | Default Category > Gear > Bags  | 29.00 | 12  | no   |
""",
    ),
    case(
        "magento1",
        KIND,
        """
"sku","_store","_attribute_set","_type","_category","_root_category","_product_websites","color","cost","description","image","manufacturer","name","price","special_price","status","tax_class_id","visibility","weight","qty","is_in_stock","_media_image","_super_products_sku","_super_attribute_code","_super_attribute_option"
"lamp-c","","Default","configurable","Light/Desk","Default Category","base","","","A lamp","/l/lamp.jpg","Lumo","Desk lamp","49.0000","","1","2","4","","0.0000","1","/l/lamp.jpg","lamp-red","color","Red"
"","","","","","","","","","","","","","","","","","","","","","/l/lamp2.jpg","lamp-blue","color","Blue"
"lamp-red","","Default","simple","","","base","Red","20.0000","A lamp","/l/lampr.jpg","Lumo","Desk lamp red","49.0000","","1","2","1","1.2000","3.0000","1","","","",""
"lamp-blue","","Default","simple","","","base","Blue","20.0000","A lamp","/l/lampb.jpg","Lumo","Desk lamp blue","52.0000","","1","2","1","1.2000","4.0000","1","","","",""
"bulb-e27","","Default","simple","Light/Bulbs","Default Category","base","","1.1000","LED bulb","/b/bulb.jpg","Lumo","LED bulb E27","5.9000","","2","2","4","0.0600","200.0000","1","","","",""
""",
        """
sku      | title        | brand | category     | price | cost | stock | published | variants
lamp-c   | Desk lamp    | Lumo  | Light > Desk | 49.00 |      | 7     | yes       | lamp-red color=Red 49.00 x3; lamp-blue color=Blue 52.00 x4
bulb-e27 | LED bulb E27 | Lumo  | Light > Bulbs | 5.90 | 1.10 | 200   | no        |
""",
    ),
    case(
        "prestashop-products",
        KIND,
        """
Product ID;Active (0/1);Name *;Categories (x,y,z...);Price tax excluded;Tax rules ID;Wholesale price;On sale (0/1);Reference #;Supplier reference #;Supplier;Manufacturer;EAN13;Width;Height;Depth;Weight;Delivery time of in-stock products;Quantity;Minimal quantity;Short description;Description;Tags (x,y,z...);Image URLs (x,y,z...)
11;1;Carafe en verre;Accueil,Cuisine,Carafes;18.333333;1;7.50;0;CAR-01;F-881;Verrerie Lot;Lot & Fils;3017620422003;10;28;10;0.75;;42;1;;<p>Carafe 1 L</p>;verre,eau;https://boutique.invalid/11.jpg,https://boutique.invalid/11b.jpg
12;0;Dessous de plat;Accueil,Cuisine;6.9;1;2.10;0;DES-02;F-882;Verrerie Lot;Lot & Fils;;20;1;20;0.3;;0;2;;;;https://boutique.invalid/12.jpg
""",
        """
id | sku    | title           | category           | price | cost | brand      | supplier     | gtin          | stock | min | weight  | images | gross | published
11 | CAR-01 | Carafe en verre | Accueil | 18.333333 | 7.50 | Lot & Fils | Verrerie Lot | 3017620422003 | 42 | 1 | 0.75 | 2 | no | yes
12 | DES-02 | Dessous de plat | Accueil | 6.90  | 2.10 | Lot & Fils | Verrerie Lot |               | 0     | 2   | 0.3  | 1      | no | no
""",
    ),
    case(
        "prestashop-combinations",
        KIND,
        """
Product ID*;Attribute (Name:Type:Position)*;Value (Value:Position)*;Supplier reference;Reference;EAN13;UPC;Wholesale price;Impact on price;Ecotax;Quantity;Minimal quantity;Impact on weight;Default (0 = No, 1 = Yes)
11;Couleur:color:0,Taille:select:1;Vert:0,M:1;;CAR-V-M;3017620422010;;7.50;0;0;10;1;0;1
11;Couleur:color:0,Taille:select:1;Vert:0,L:2;;CAR-V-L;;;8.00;2.5;0;5;1;0.1;0
""",
        """
id | stock | variants
11 | 15    | CAR-V-M Couleur=Vert Taille=M x10; CAR-V-L Couleur=Vert Taille=L x5
""",
    ),
    case(
        "akeneo-products",
        KIND,
        """
sku;categories;enabled;family;groups;parent;name-en_US;name-fr_FR;description-en_US-ecommerce;ean;price-EUR;price-USD;weight;weight-unit;brand;color
BK-100;books_fantasy,books;1;book;;;The long road;La longue route;A novel.;9780306406157;14.90;16.90;0.42;KILOGRAM;Penn;
TS-1;tshirts;0;clothing;;;Plain shirt;T-shirt uni;Cotton.;;9.00;10.00;180;GRAM;Basic;blue
""",
        """
sku    | title         | category      | brand | gtin          | price | cur | weight  | published
BK-100 | The long road | books_fantasy | Penn  | 9780306406157 | 14.90 | EUR | 0.42 kg | yes
TS-1   | Plain shirt   | tshirts       | Basic |               | 9.00  | EUR | 180 g   | no
""",
    ),
    case(
        "akeneo-models",
        KIND,
        """
sku;parent;categories;enabled;family;family_variant;name-de_DE;description-de_DE-print;brand;size;color;price-EUR;ean
jacke;;jacken;1;kleidung;kleidung_groesse;Regenjacke Nord;Wasserdicht.;Nordwind;;;;
jacke-m;jacke;jacken;1;kleidung;;;;;M;gelb;89.00;4006381333931
jacke-l;jacke;jacken;1;kleidung;;;;;L;gelb;92.00;4006381333948
""",
        """
sku   | title           | category | brand    | price | cur | variants
jacke | Regenjacke Nord | jacken   | Nordwind | 89.00 | EUR | jacke-m color=gelb size=M 89.00; jacke-l color=gelb size=L 92.00
""",
    ),
    case(
        "bigcommerce",
        KIND,
        """
Item Type,Product ID,Product Name,Product Type,Product Code/SKU,Bin Picking Number,Brand Name,Option Set,Product Description,Price,Cost Price,Retail Price,Sale Price,Product Weight,Product Width,Product Height,Product Depth,Allow Purchases?,Product Visible?,Product Availability,Track Inventory,Current Stock Level,Low Stock Level,Category,Product Image File - 1,Product Condition,Product UPC/EAN
Product,77,Trail bottle 750 ml,P,TB-750,,Hydra,,<p>Steel</p>,22.95,9.40,29.95,,0.35,7,26,7,Y,Y,,by product,64,5,Outdoor/Bottles,https://store.invalid/tb750.jpg,New,036000291452
Product,78,Trail cup,P,TC-200,,Hydra,,,11.50,4.00,14.95,,0.1,8,8,8,Y,N,,by product,0,5,Outdoor/Cups,https://store.invalid/tc200.jpg,New,
""",
        """
id | sku    | title               | brand | price | cost | rrp   | stock | category           | gtin         | published | image
77 | TB-750 | Trail bottle 750 ml | Hydra | 22.95 | 9.40 | 29.95 | 64    | Outdoor > Bottles  | 036000291452 | yes       | https://store.invalid/tb750.jpg
78 | TC-200 | Trail cup           | Hydra | 11.50 | 4.00 | 14.95 | 0     | Outdoor > Cups     |              | no        | https://store.invalid/tc200.jpg
""",
    ),
    case(
        "shopware6",
        KIND,
        """
id;parent_id;product_number;active;stock;name;description;price_net;price_gross;purchase_prices_net;tax_rate;manufacturer;ean;categories;media;shipping_free;min_purchase
018a1;;SW10001;1;25;Aktenordner A4;Stabil;3.19;3.80;1.55;19;Büroprofi;4006381333931;Büro > Ordnen;https://laden.invalid/o.jpg;0;1
018a2;;SW10002;0;0;Heftklammern 24/6;;0.84;1.00;0.31;19;Büroprofi;;Büro > Heften;https://laden.invalid/h.jpg;0;10
""",
        """
id    | sku     | title             | price | gross | cost | tax | brand     | gtin          | category      | stock | min | published
018a1 | SW10001 | Aktenordner A4    | 3.80  | yes  | 1.55 | 19  | Büroprofi | 4006381333931 | Büro > Ordnen | 25    | 1   | yes
018a2 | SW10002 | Heftklammern 24/6 | 1.00  | yes  | 0.31 | 19  | Büroprofi |               | Büro > Heften | 0     | 10  | no
""",
    ),
    case(
        "odoo",
        KIND,
        """
"External ID","Internal Reference","Name","Product Type","Product Category/Complete Name","Sales Price","Cost","Quantity On Hand","Unit of Measure/Name","Barcode","Weight","Can be Sold"
"__export__.p_1","DESK-0001","Customizable Desk","Storable Product","All / Saleable / Office Furniture",750.0,500.0,45.0,"Units","4006381333931",12.5,True
"__export__.p_2","CHR-0007","Office Chair","Storable Product","All / Saleable / Office Furniture",70.0,41.5,3.0,"Units",,8.0,True
""",
        """
id            | sku       | title             | category                            | price  | cost   | stock | gtin
__export__.p_1 | DESK-0001 | Customizable Desk | All > Saleable > Office Furniture  | 750.00 | 500.00 | 45    | 4006381333931
__export__.p_2 | CHR-0007  | Office Chair      | All > Saleable > Office Furniture  | 70.00  | 41.50  | 3     |
""",
    ),
    case(
        "amazon-flat-file",
        KIND,
        "TemplateType=fptcustom\tVersion=2023.1011\tTemplateSignature=S0lUQ0hFTg==\tThe top 3 rows are for Amazon.com use only.\t\t\t\t\t\t\n"
        "Seller SKU\tProduct Name\tBrand Name\tProduct ID\tProduct ID Type\tStandard Price\tQuantity\tMain Image URL\tParentage\tParent SKU\n"
        "item_sku\titem_name\tbrand_name\texternal_product_id\texternal_product_id_type\tstandard_price\tquantity\tmain_image_url\tparent_child\tparent_sku\n"
        "PAN-24\tFrying pan 24 cm\tGusso\t4006381333931\tEAN\t34.95\t18\thttps://img.invalid/pan24.jpg\t\t\n"
        "PAN-28\tFrying pan 28 cm\tGusso\t4006381333948\tEAN\t39.95\t0\thttps://img.invalid/pan28.jpg\t\t\n",
        """
sku    | title            | brand | gtin          | price | stock | image
PAN-24 | Frying pan 24 cm | Gusso | 4006381333931 | 34.95 | 18    | https://img.invalid/pan24.jpg
PAN-28 | Frying pan 28 cm | Gusso | 4006381333948 | 39.95 | 0     | https://img.invalid/pan28.jpg
""",
    ),
    case(
        "google-merchant-xml",
        KIND,
        """
<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:g="http://base.google.com/ns/1.0"><channel><title>Kaffebutik</title><link>https://kaffe.invalid</link><description>Feed</description>
<item><g:id>K-1</g:id><g:title>Mörkrost 500 g</g:title><g:description>Hela bönor</g:description><g:link>https://kaffe.invalid/k1</g:link><g:image_link>https://kaffe.invalid/k1.jpg</g:image_link><g:availability>in_stock</g:availability><g:price>89.00 SEK</g:price><g:sale_price>79.00 SEK</g:sale_price><g:brand>Rost AB</g:brand><g:gtin>7310865004703</g:gtin><g:product_type>Kaffe &gt; Bönor</g:product_type></item>
<item><g:id>K-2</g:id><g:title>Ljusrost 250 g</g:title><g:description>Malet</g:description><g:link>https://kaffe.invalid/k2</g:link><g:image_link>https://kaffe.invalid/k2.jpg</g:image_link><g:availability>out_of_stock</g:availability><g:price>54.50 SEK</g:price><g:brand>Rost AB</g:brand><g:mpn>LR250</g:mpn><g:product_type>Kaffe &gt; Malet</g:product_type></item>
</channel></rss>
""",
        """
id  | title          | price | cur | brand   | gtin          | mpn   | category      | status       | url                       | image
K-1 | Mörkrost 500 g | 79.00 | SEK | Rost AB | 7310865004703 |       | Kaffe > Bönor | in_stock     | https://kaffe.invalid/k1  | https://kaffe.invalid/k1.jpg
K-2 | Ljusrost 250 g | 54.50 | SEK | Rost AB |               | LR250 | Kaffe > Malet | out_of_stock | https://kaffe.invalid/k2  | https://kaffe.invalid/k2.jpg
""",
    ),
    case(
        "ebay-file-exchange",
        KIND,
        """
*Action(SiteID=Germany|Country=DE|Currency=EUR|Version=1193),CustomLabel,*Category,*Title,*ConditionID,C:Marke,C:Größe,PicURL,*Description,*Format,*Duration,*StartPrice,*Quantity,Product:EAN,*DispatchTimeMax
Add,EB-500,11700,Gartenschere Bypass 21 cm,1000,Grünwerk,21 cm,https://bild.invalid/500.jpg,<p>Scharf</p>,FixedPrice,GTC,19.99,14,4006381333931,2
Add,EB-501,11700,Astschere Teleskop,1000,Grünwerk,,https://bild.invalid/501.jpg,<p>Lang</p>,FixedPrice,GTC,44.90,3,,2
""",
        """
sku    | title                     | brand    | price | cur | stock | gtin          | image                          | lead
EB-500 | Gartenschere Bypass 21 cm | Grünwerk | 19.99 | EUR | 14    | 4006381333931 | https://bild.invalid/500.jpg   | 2
EB-501 | Astschere Teleskop        | Grünwerk | 44.90 | EUR | 3     |               | https://bild.invalid/501.jpg   | 2
""",
    ),
    case(
        "oxid",
        KIND,
        """
OXID|OXPARENTID|OXARTNUM|OXEAN|OXTITLE|OXVARSELECT|OXPRICE|OXTPRICE|OXBPRICE|OXSTOCK|OXACTIVE|OXWEIGHT|OXPIC1|OXVARNAME
a1||1402|4006381333931|Trapez ASH|| 219.00|229.00|120.00|6|1|1.2|trapez.jpg|
b1||2000||Segel-Set||0|0|0|0|1|0|segel.jpg|Größe
b2|b1|2000-1|||5.4|899|949|500|2|1|4.5||
b3|b1|2000-2|||6.1|999|1049|560|1|1|4.9||
""",
        """
id | sku  | title      | gtin          | price  | stock | published
a1 | 1402 | Trapez ASH | 4006381333931 | 219.00 | 6     | yes
b1 | 2000 | Segel-Set  |               | 899.00 | 3     | yes
""",
    ),
]
