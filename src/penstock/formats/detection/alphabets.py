"""Non-ASCII letters of languages, by the encodings of their texts."""

from __future__ import annotations

_WESTERN = (
    "äöüß", "éèêëàâçîïôûùœ", "áéíóúñü", "ãõçáâàéêíóôú", "àèéìòù", "éëïóöü", "åäöé", "æøåé",
    "áéíóúýþðæö", "àçèéíïòóúü",
)  # fmt: skip
_CENTRAL = (
    "ąćęłńóśźż", "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "áéíóöőúüű", "ăâîşţșț", "čćđšž", "äöüß",
)  # fmt: skip
_CYRILLIC = (
    "абвгдежзийклмнопрстуфхцчшщъыьэюяё", "абвгдежзийклмнопрстуфхцчшщьюяіїєґ",
    "абвгдежзиклмнопрстуфхцчшђјљњћџ",
)  # fmt: skip
_GREEK = ("αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋΐΰ",)
# The capital İ is two characters in lower case.
_TURKISH = ("çğıiİöşüâîû",)
_BALTIC = ("ąčęėįšųūž", "āčēģīķļņšūž", "äöõüšž", "ąćęłńóśźż")
_HEBREW = ("אבגדהוזחטיךכלםמןנסעףפץצקרשת",)
# Vowel signs and tone marks are characters of their own.
_THAI = ("".join(map(chr, range(0x0E01, 0x0E3B))) + "".join(map(chr, range(0x0E40, 0x0E5C))),)
_ARABIC = ("ابتثجحخدذرزسشصضطظعغفقكلمنهويىءآأؤإئةپچژگ",)

# Encodings of one byte a letter.
NARROW: dict[str, tuple[str, ...]] = {
    "cp1252": _WESTERN,
    "cp1250": _CENTRAL,
    "cp1251": _CYRILLIC,
    "koi8-r": _CYRILLIC[:1],
    "koi8-u": _CYRILLIC[1:2],
    "cp866": _CYRILLIC[:1],
    "mac_cyrillic": _CYRILLIC[:2],
    "cp1253": _GREEK,
    "cp737": _GREEK,
    "cp1254": _TURKISH,
    "cp857": _TURKISH,
    "cp1255": _HEBREW,
    "cp1256": _ARABIC,
    "iso8859_6": _ARABIC,
    "cp1257": _BALTIC,
    "cp874": _THAI,
    "iso8859_5": _CYRILLIC,
    "iso8859_2": _CENTRAL,
    "iso8859_15": _WESTERN,
    "mac_roman": _WESTERN,
    "cp850": _WESTERN,
    "cp852": _CENTRAL,
    "mac_latin2": _CENTRAL,
}
# Frequent letters, which distinguish encodings that swap alphabets.
FREQUENT = "оеаинтсрвлкмдпαοιετσνρηπκλυיוהלאמרתבשנاليمونتربةานรอกเงคมยลวดทสตะปบข"
# Prior probability of each encoding.
PRIOR = {
    "cp1252": 0.08, "cp1250": 0.04, "cp1251": 0.04, "koi8-r": -0.03, "cp866": -0.05,
    "iso8859_5": -0.08, "cp874": -0.1, "koi8-u": -0.05, "mac_cyrillic": -0.06, "cp737": -0.06,
    "cp857": -0.07, "iso8859_6": -0.05, "mac_latin2": -0.07,
    "cp1254": -0.02, "cp1257": -0.03, "cp1255": -0.02, "cp1256": -0.02, "iso8859_2": -0.01,
    "iso8859_15": -0.02, "mac_roman": -0.05, "cp850": -0.06, "cp852": -0.07,
}  # fmt: skip

_CHINESE = (
    "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子"
    "说产种面方后多定行学法所得经十三之进等部度家电力里如水化高自二理起小物现实加量两体制机当使点从"
    "业本去性好应开合因由其前外天四日平形相全表间样与关重新线内数正心反明看原利比质气第向道变条只结"
    "建月公无系情者最立代通提直程五料员位入常文总次品式活设及管特件长求头基资边流路级图山统接组计别"
    "手角期根运农指几九区强放西被做先回任取据处色光门保北造百规热海口东导器压金增油术交受联六收清美"
    "采转更单切打白速花带安车真具万每目示报完类八名确科信节米整空元今集温石记需段装低音书布容商非连"
    "千技备半青列支便往消构称太准精值号率维选标存快效型按格养置层片专厂适属圆包火调满局照红细引铁价"
    "编码牌寸厘克瓶箱袋盒套冰视"
)
_TRADITIONAL = (
    "的一是不了有和人這中大為上個國我以要他時來用們生到作地於出就分對成會可主發年動同工也能下過子說"
    "產種面方後多定行學法所得經十三進等部度家電力裡如水化高自二理起小物現實加量兩體制機當使點從業本"
    "好應開合因由其前外天四日平形相全表間樣與關重新線內數正心原利比質氣第向道變條建月公無系最立代通"
    "提程五料員位入文總次品式活設及管特件長頭基資路級圖統接組計手角期根運指區強放色光門保造百規熱海"
    "口東器壓金增油術交收清美轉單白速花帶安車真具萬每目示報完類名確科信節米整空元集溫石記需裝低音書"
    "布容商連千技備半青支便稱精值號率維選標存型按格層片專廠適屬包火調紅細鐵價編碼牌寸瓶箱袋盒套冰視"
)
_JAPANESE = (
    "日一国人年大本中長出三時行見月分後前生五間上東四今金九入学高円子外八六下来気小七山話女北午百書"
    "先名川千水半男西電校語土木聞食車何南万毎白天母火右読友左休父雨品番価格数量型色寸法商材質税込単"
    "位箱個入用部製造元冷蔵庫"
)
_KOREAN = (
    "이다는의가에을를로고하지사기도인한자정리시대어라만수은일부해전스그나제보상여소주들동구원아용과공"
    "장비미서화조성문관면경개품명격량번호색규크트드레비전냉고름"
)
# Multi-byte encodings: the most frequent characters, and the lead bytes of common ones.
WIDE: dict[str, tuple[str, range]] = {
    "cp932": (_JAPANESE, range(0x88, 0x98)),
    "gb18030": (_CHINESE, range(0xB0, 0xD8)),
    "big5": (_TRADITIONAL, range(0xA4, 0xC7)),
    "cp949": (_KOREAN, range(0xB0, 0xC9)),
    "euc_jp": (_JAPANESE, range(0xB0, 0xD0)),
}
