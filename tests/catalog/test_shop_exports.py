"""Exports of shop systems are read by their own rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from benchmarks.gold.run import products_of

from penstock.catalog.values.categories import read_categories
from penstock.catalog.values.option_cells import read_attributes, read_listed, read_names


def products(tmp_path: Path, text: str) -> list[dict[str, Any]]:
    path = tmp_path / "export.csv"
    path.write_text(text, "utf-8")
    return products_of(path)


MAGENTO = (
    "sku,attribute_set_code,product_type,categories,name,price,special_price,special_price_to_date,"
    "qty,is_in_stock,weight,product_online,additional_attributes,configurable_variations\n"
)


@pytest.mark.parametrize(
    ("name", "option", "values"),
    [("Pantalon", "taille", ("38", "40")), ("Hose", "groesse", ("48", "50")),
     ("Trousers", "size", ("M", "L"))],
)  # fmt: skip
def test_variants_listed_by_their_parent(
    tmp_path: Path, name: str, option: str, values: tuple[str, str]
) -> None:
    """The parent comes after its variants, and another product is between them."""
    first, second = values
    text = (
        MAGENTO
        + f'P-1,Top,simple,A/B,{name}-1,20.00,,,3,1,1,1,"{option}={first},manufacturer=Oyo",\n'
        + "X-1,Top,simple,A,Rug,9.00,,,1,1,1,1,manufacturer=Oyo,\n"
        + f'P-2,Top,simple,A/B,{name}-2,22.00,,,4,1,1,1,"{option}={second},manufacturer=Oyo",\n'
        + f"P,Top,configurable,A/B,{name},,,,0,1,,2,manufacturer=Oyo,"
        + f'"sku=P-1,{option}={first}|sku=P-2,{option}={second}"\n'
    )
    found = {one["title"]: one for one in products(tmp_path, text)}
    assert set(found) == {name, "Rug"}
    parent = found[name]
    assert [one["options"] for one in parent["variants"]] == [{option: first}, {option: second}]
    assert [one["price"]["amount"] for one in parent["variants"]] == ["20.00", "22.00"]
    assert parent["availability"]["quantity"] == 7
    assert parent["price"]["amount"] == "20.00"
    assert parent["published"] is False
    assert parent["brand"] == "Oyo"
    assert "variants" not in found["Rug"]


@pytest.mark.parametrize(
    ("price", "sale", "until", "expected"),
    [("34.00", "29.00", "", ("29.00", "34.00")), ("34.00", "", "", ("34.00", None)),
     ("34.00", "40.00", "", ("34.00", None)), ("34.00", "29.00", "2020-01-31", ("34.00", None))],
)  # fmt: skip
def test_a_sale_price(
    tmp_path: Path, price: str, sale: str, until: str, expected: tuple[str, str | None]
) -> None:
    """A reduced price is the price, and the usual one compareAt; with a period it may be over."""
    text = MAGENTO + f"B-1,Bag,simple,A,Bag,{price},{sale},{until},1,1,1,1,,\n"
    (one,) = products(tmp_path, text)
    assert (one["price"]["amount"], one["price"].get("compareAt")) == expected


@pytest.mark.parametrize(
    ("head", "rows"),
    [("Art.-Nr.;Bezeichnung;Listenpreis;Rabatt %", ("200,00;15 %", "9,99;33,3")),
     ("Codice;Descrizione;Prezzo di listino;Sconto %", ("200,00;15", "9,99;33,3%")),
     ("Kod;Nazwa;Cena katalogowa;Rabat", ("200,00;15", "9,99;33,3"))],
)  # fmt: skip
def test_a_discount_on_the_list_price(tmp_path: Path, head: str, rows: tuple[str, str]) -> None:
    lines = [head, *(f"K-{n};Lampa {n} abc;{row}" for n, row in enumerate(rows))]
    first, second = products(tmp_path, "\n".join(lines))
    assert (first["price"]["list"], first["price"]["amount"]) == ("200.00", "170.00")
    assert first["price"]["discount"] == 15
    assert (second["price"]["list"], second["price"]["amount"]) == ("9.99", "6.66")


def test_an_unreadable_discount_gives_no_price(tmp_path: Path) -> None:
    text = "SKU;Name;List price;Discount %\nA-1;Lamp;20.00;call us\nA-2;Rug;10.00;5\n"
    found = products(tmp_path, text)
    assert [one["price"].get("amount") for one in found] == [None, "9.50"]


def test_cells_of_options() -> None:
    assert read_attributes("a=1,note=x, y and z,b=2").value == {
        "a": "1",
        "note": "x, y and z",
        "b": "2",
    }
    assert read_attributes("no pairs").value is None
    assert read_listed("sku=A,size=S|sku=B,size=M").value == (
        ("A", {"size": "S"}),
        ("B", {"size": "M"}),
    )
    assert read_listed("A,B").value == (("A", {}), ("B", {}))
    assert read_names("Color:color:0,Size:select:1").value == ("Color", "Size")


@pytest.mark.parametrize(
    ("cell", "paths"),
    [("Clothing > Shirts, Sale", ["Clothing > Shirts", "Sale"]), ("a,b", ["a", "b"]),
     ("Home\\, Garden > Tools", ["Home, Garden > Tools"]), ("A/B,A", ["A > B", "A"])],
)  # fmt: skip
def test_several_categories(cell: str, paths: list[str]) -> None:
    assert read_categories(cell).value == paths


STORE_VIEWS = """sku,store_view_code,attribute_set_code,product_type,categories,name,price,qty
LAMP,,Default,simple,Default Category/Lamps,Table lamp,49.90,5
LAMP,de,Default,simple,,Tischlampe,,
LAMP,fr,Default,simple,,Lampe de table,,
VASE,,Default,simple,Default Category/Vases,Glass vase,19.90,3
VASE,de,Default,simple,,Glasvase,,
"""


def test_texts_of_store_views_are_not_the_products(tmp_path: Path) -> None:
    file = tmp_path / "magento.csv"
    file.write_text(STORE_VIEWS, "utf-8")
    found = [(one["title"], one["price"]["amount"]) for one in products_of(file)]
    assert found == [("Table lamp", "49.90"), ("Glass vase", "19.90")]


def test_a_file_of_one_store_view_has_its_products(tmp_path: Path) -> None:
    file = tmp_path / "magento.csv"
    rows = [line for line in STORE_VIEWS.splitlines() if ",,Default" not in line]
    file.write_text("\n".join(line for line in rows if ",fr," not in line) + "\n", "utf-8")
    assert [one["title"] for one in products_of(file)] == ["Tischlampe", "Glasvase"]


def test_parents_of_variations_by_number(tmp_path: Path) -> None:
    file = tmp_path / "woocommerce.csv"
    file.write_text(
        "ID,Type,SKU,Name,Published,Stock,Regular price,Parent,Attribute 1 name,"
        "Attribute 1 value(s)\n"
        '44,variable,,Shirt,1,,,,Size,"S, M"\n45,variation,,Shirt - S,1,3,20.00,id:44,Size,S\n'
        "46,variation,,Shirt - M,1,4,21.00,id:44,Size,M\n47,simple,CAP,Cap,1,9,9.00,,,\n",
        "utf-8",
    )
    shirt, cap = products_of(file)
    assert [one["options"] for one in shirt["variants"]] == [{"Size": "S"}, {"Size": "M"}]
    assert (shirt["title"], cap["title"]) == ("Shirt", "Cap")


# The columns of a WooCommerce export, in the languages of its users.
WORDS = (
    "ID type sku title published featured visibility short description instock stock weight sale "
    "price categories images parent name1 value1"
)
TRANSLATED = {
    "ru": "ID,Тип,Артикул,Имя,Опубликован,рекомендуемый?,Видимость в каталоге,Короткое описание,"
    "Описание,В наличии?,Запасы,Вес (kg),Цена распродажи,Базовая цена,Категории,Изображения,"
    "Родительский,Имя атрибута 1,Значение(-я) аттрибута(-ов) 1",
    "tr": "Kimlik,Tür,Stok kodu (SKU),İsim,Yayımlanmış,Öne çıkan?,Katalogda görünürlük,"
    "Kısa açıklama,Açıklama,Stokta?,Stok,Ağırlık (kg),İndirimli satış fiyatı,Normal fiyat,"
    "Kategoriler,Görseller,Ebeveyn,Nitelik 1 ismi,Nitelik 1 değer(ler)i",
    "ro": "ID,Tip,SKU,Nume,Publicat,Este reprezentativ?,Vizibilitate în catalog,Descriere scurtă,"
    "Descriere,În stoc?,Stoc,Greutate (kg),Preț de vânzare,Preț obișnuit,Categorii,Imagini,"
    "Părinte,Nume atribut 1,Valoare (valori) atribut 1",
    "el": "ID,Τύπος,Κωδικός προϊόντος,Όνομα,Δημοσιευμένο,Είναι προτεινόμενο;,Ορατότητα στον "
    "κατάλογο,Σύντομη περιγραφή,Περιγραφή,Σε απόθεμα;,Απόθεμα,Βάρος (kg),Τιμή προσφοράς,"
    "Κανονική τιμή,Κατηγορίες,Εικόνες,Γονέας,Όνομα ιδιότητας 1,Τιμή(ές) ιδιότητας 1",
    "vi": "ID,Loại,Mã sản phẩm,Tên,Đã đăng,Nhãn nổi bật?,Hiển thị trong danh mục,Mô tả ngắn,Mô tả,"
    "Còn hàng?,Kho,Cân nặng (kg),Giá khuyến mãi,Giá bán thường,Danh mục,Hình ảnh,Gốc,"
    "Tên thuộc tính 1,Giá trị thuộc tính 1",
    "fa": "شناسه,نوع,شناسه محصول,نام,منتشر شده,ویژه است؟,قابلیت نمایش در کاتالوگ,توضیح کوتاه,"
    "توضیحات,در انبار؟,انبار,وزن (کیلوگرم),قیمت فروش فوقالعاده,قیمت اصلی,دسته‌ها,تصاویر,مادر,"
    "نام ویژگی 1,مقدار(های) ویژگی 1",
    "ja": "ID,タイプ,SKU,名前,公開済み,オススメですか ?,カタログでの表示,簡単な説明,説明,"
    "在庫の有無,在庫,重量 (kg),セール価格,標準価格,カテゴリー,画像,親,属性 1 の名前,属性 1 の値",
}


@pytest.mark.parametrize("language", TRANSLATED)
def test_woocommerce_in_further_languages(tmp_path: Path, language: str) -> None:
    assert TRANSLATED[language].count(",") == len(WORDS.split()) - 1
    row = "7,simple,T-1,Blue vase,{},0,visible,Short,Long text,1,12,0.5,{},12.50,Home,{},,Hue,Blue"
    picture = "https://shop.example/7.jpg"
    text = "\n".join([
        TRANSLATED[language],
        row.format("1", "9.90", picture),
        row.format("'-1", "", picture).replace("7,", "8,", 1).replace("T-1", "T-2"),
    ])  # fmt: skip
    first, second = products(tmp_path, text + "\n")
    assert (first["title"], first["identifiers"]["sku"]) == ("Blue vase", "T-1")
    assert (first["price"]["amount"], first["price"]["compareAt"]) == ("9.90", "12.50")
    assert (first["availability"]["quantity"], first["category"]) == (12, "Home")
    assert (first["sourceId"], first["description"]) == ("7", "Long text")
    assert [one["published"] for one in (first, second)] == [True, False]
