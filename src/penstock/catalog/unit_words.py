"""Names of units in seven languages, with the codes of trade (UN/ECE Recommendation 20)."""

from __future__ import annotations

from decimal import Decimal

# Canonical name, kind, how many base units it is, and every other name it goes by.
_UNITS: tuple[tuple[str, str, str, str], ...] = (
    ("mg", "mass", "0.000001", "milligram milligrams milligramm milligramme mgm"),
    ("g", "mass", "0.001", """
        gr grm gram grams gramm gramme grammes gramo gramos grammo grammi grama gramas"""),
    ("kg", "mass", "1", """
        kgs kgm kilo kilos kilogram kilograms kilogramm kilogramme kilogrammes kilogramo
        kilogramos chilo chilogrammo chilogrammi quilo quilograma quilogramas"""),
    ("t", "mass", "1000", """
        tne to ton tons tonne tonnes tonnen tonelada toneladas tonnellata tonnellate"""),
    ("lb", "mass", "0.45359237", "lbs lbr pound pounds pfund livre libra libras libbra libbre"),
    ("oz", "mass", "0.028349523125", """
        onz ounce ounces unze unzen once onces onza onzas oncia once"""),
    ("ml", "volume", "0.001", """
        mlt milliliter millilitre milliliters millilitres mililitro mililitros millilitro"""),
    ("cl", "volume", "0.01", "clt centiliter centilitre zentiliter centilitro centilitros"),
    ("dl", "volume", "0.1", "dlt deciliter decilitre deziliter decilitro"),
    ("l", "volume", "1", "lt ltr ltrs liter liters litre litres litro litros litri"),
    ("hl", "volume", "100", "hlt hectoliter hectolitre hektoliter"),
    ("m3", "volume", "1000", "m³ mtq cbm kubikmeter"),
    ("fl oz", "volume", "0.0295735295625", "floz fl.oz fl.oz. fl._oz fl._oz. oza fluid_ounce"),
    ("gal", "volume", "3.785411784", "gll gallon gallons gallone"),
    ("pt", "volume", "0.473176473", "pint pints"),
    ("mm", "length", "0.001", """
        mmt millimeter millimetre millimetres milimetro milimetros millimetro millimetri"""),
    ("cm", "length", "0.01", """
        cmt centimeter centimetre centimetres zentimeter centimetro centimetros centimetri"""),
    ("dm", "length", "0.1", "dmt decimeter decimetre"),
    ("m", "length", "1", "mtr lfm lfdm laufmeter meter meters metre metres metro metros metri"),
    ("km", "length", "1000", "kmt kilometer kilometre"),
    ("in", "length", "0.0254", """
        inh inch inches zoll pouce pouces pulgada pulgadas pollice pollici duim polegada \" ″ ′′
        ''"""),
    ("ft", "length", "0.3048", "fot foot feet fuss pied pieds pie pies piede piedi voet ' ′"),
    ("yd", "length", "0.9144", "yrd yard yards"),
    ("cm2", "area", "0.0001", "cm² cmk sqcm"),
    ("m2", "area", "1", "m² mtk qm sqm quadratmeter"),
    ("sqft", "area", "0.09290304", "ft2 ft² sq.ft"),
    ("h", "time", "1", """
        hur hr hrs hour hours std stunde stunden heure heures hora horas ora ore uur"""),
    ("day", "time", "24", """
        days tag tage tagen jour jours día días dia dias giorno giorni dag dagen werktage
        arbeitstage werkdagen"""),
    ("week", "time", "168", """
        weeks wk wks woche wochen semaine semaines semana semanas settimana settimane weken"""),
    ("piece", "count", "1", """
        pieces pc pcs pce c62 h87 ea each unit units un und unid uni unidad unidades unidade ud
        uds u st stk stck stück stuck stueck stk. stücke stucke piece pièce pièces
        pieza piezas pza pzas pz pzo pezzo pezzi stuk stuks peca pecas peça peças
        item items ex count ct. nr pç pçs psc stw szt ks adet шт 個 个 件"""),
    ("pair", "count", "2", "pairs pr paar paa par pares paire paires paio paia"),
    ("dozen", "count", "12", """
        dozens dz dzn dutzend dtz douzaine docena docenas dozzina dozijn duzia dúzia"""),
    ("set", "count", "1", "sets satz garnitur jeu juego kit kits conjunto"),
    ("pack", "package", "1", """
        packs pk pkg pkt package packages packet packets packung packungen pckg pack. paket
        pakete päckchen paquet paquets paquete paquetes pacco pacchi pak pakken pacote pacotes
        lot lots lote lotes ve vpe verpackungseinheit gebinde multipack confezione confezioni
        conf verpakking embalagem embalaje colis"""),
    ("box", "package", "1", """
        boxes bx schachtel schachteln boîte boites boite caja cajas scatola scatole doos caixa
        caixas cx kiste kisten kasten ki"""),
    ("carton", "package", "1", """
        cartons case cases cs ct ctn kar kart karton kartons cartone cartoni cartón cartones
        cartao"""),
    ("bottle", "package", "1", """
        bottles bo btl flasche flaschen fl bouteille bouteilles botella botellas bottiglia
        bottiglie fles flessen garrafa garrafas"""),
    ("can", "package", "1", """
        cans ca dose dosen canette canettes boîtes lata latas lattina lattine blik blikken"""),
    ("bag", "package", "1", """
        bags bg beutel sack säcke sacke tüte tüten sac sacs bolsa bolsas sacco sacchi zak zakken
        saco sacos sachet sachets"""),
    ("roll", "package", "1", """
        rolls ro rolle rollen rouleau rouleaux rll rollo rollos rotolo rotoli rol rolo rolos"""),
    ("sheet", "package", "1", """
        sheets blatt bogen feuille feuilles hoja hojas foglio fogli vel vellen folha folhas"""),
    ("tube", "package", "1", "tubes tuben tubo tubos tubetto"),
    ("bucket", "package", "1", "buckets eimer seau cubo secchio emmer balde"),
    ("pallet", "package", "1", "pallets pf palette paletten palettes palet palets bancale"),
)  # fmt: skip

KINDS: dict[str, str] = {name: kind for name, kind, _, _ in _UNITS}
FACTORS: dict[str, Decimal] = {name: Decimal(factor) for name, _, factor, _ in _UNITS}
WORDS: dict[str, str] = {}
for _name, _kind, _factor, _aliases in _UNITS:
    for _alias in (_name, *_aliases.split()):
        WORDS.setdefault(_alias.replace("_", " "), _name)
# Trade writes these in capitals; in small letters they are other things or nothing.
WORDS |= {"CT": "carton", "RO": "roll", "SET": "set", "L": "l", "M": "m", "T": "t"}
