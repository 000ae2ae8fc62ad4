"""Words about stock in scripts and languages that the usual lists do not have."""

from __future__ import annotations

import pytest

from penstock.catalog.values.availability import read_availability, read_quantity

WORDS = {
    "out_of_stock": "在庫切れ|在庫無し|販売終了|无库存|没有库存|断货|無庫存|缺貨|품절|재고 없음"
    "|판매중지|หมด|ไม่มีสินค้า|tạm hết|không còn hàng|غير متاح|نفدت الكمية|نفذ من المخزون"
    "|לא במלאי|לא זמין|חסר במלאי|tidak tersedia",
    "in_stock": "在庫有り|即納|有库存|库存充足|재고보유|당일발송|พร้อมส่ง|có sẵn"
    "|متوفر في المخزون|זמין|יש במלאי|ready stock|◎",
    "limited": "在庫わずか|库存紧张|품절임박|ใกล้หมด|sắp hết hàng|كمية محدودة|מלאי מוגבל|△",
    "preorder": "予約受付中|预售|예약판매|พรีออเดอร์|đặt trước|طلب مسبق|הזמנה מוקדמת",
    "backorder": "お取り寄せ|入荷待ち|补货中|입고예정|สั่งทำ|hàng order|عند الطلب|לפי הזמנה",
}
ALL = [(word, status) for status, words in WORDS.items() for word in words.split("|")]


@pytest.mark.parametrize(("word", "status"), ALL)
def test_a_word_for_the_stock(word: str, status: str) -> None:
    found = read_availability(word).value
    assert found is not None
    assert found.status == status
    in_stock_column = read_quantity(word).value
    assert getattr(in_stock_column, "status", None) == status


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("現在、在庫切れです。", "out_of_stock"),
        ("目前没有库存", "out_of_stock"),
        ("尚有库存", "in_stock"),
        ("현재 품절입니다", "out_of_stock"),
        ("ขณะนี้สินค้าหมดค่ะ", "out_of_stock"),
        ("لا يتوفر: غير متاح حاليا", "out_of_stock"),
        ("המוצר אינו במלאי", "out_of_stock"),
        ("lager slut", "out_of_stock"),
    ],
)
def test_a_phrase_inside_of_a_sentence(text: str, status: str) -> None:
    found = read_availability(text).value
    assert found is not None
    assert found.status == status
