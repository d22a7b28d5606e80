"""Places and given names that are known by name: countries, capitals, large cities. Kept by hand."""

from typing import Final

_PLACES = """
Afghanistan,Albania,Algeria,Andorra,Angola,Argentina,Armenia,Australia,Austria,Azerbaijan,Bahamas,Bahrain,Bangladesh,
Barbados,Belarus,Belgium,Belize,Benin,Bhutan,Bolivia,Botswana,Brazil,Brunei,Bulgaria,Burundi,Cambodia,Cameroon,Canada,
Chile,China,Colombia,Congo,Costa Rica,Croatia,Cuba,Cyprus,Czechia,Czech Republic,Denmark,Djibouti,Ecuador,Egypt,
El Salvador,Eritrea,Estonia,Ethiopia,Fiji,Finland,France,Gabon,Gambia,Germany,Ghana,Greece,Guatemala,Guinea,Guyana,
Haiti,Honduras,Hungary,Iceland,India,Indonesia,Iran,Iraq,Ireland,Israel,Italy,Ivory Coast,Jamaica,Japan,Kazakhstan,
Kenya,Kuwait,Kyrgyzstan,Laos,Latvia,Lebanon,Lesotho,Liberia,Libya,Liechtenstein,Lithuania,Luxembourg,Madagascar,Malawi,
Malaysia,Maldives,Mali,Malta,Mauritania,Mauritius,Mexico,Moldova,Monaco,Mongolia,Montenegro,Morocco,Mozambique,Myanmar,
Namibia,Nepal,Netherlands,New Zealand,Nicaragua,Nigeria,North Korea,North Macedonia,Norway,Oman,Pakistan,Palestine,
Panama,Papua New Guinea,Paraguay,Peru,Philippines,Poland,Portugal,Qatar,Romania,Russia,Rwanda,Saudi Arabia,Senegal,
Serbia,Seychelles,Sierra Leone,Singapore,Slovakia,Slovenia,Somalia,South Africa,South Korea,South Sudan,Spain,
Sri Lanka,Sudan,Suriname,Sweden,Switzerland,Syria,Taiwan,Tajikistan,Tanzania,Thailand,Tunisia,Turkmenistan,Uganda,
Ukraine,United Arab Emirates,United Kingdom,United States,Uruguay,Uzbekistan,Vatican,Venezuela,Vietnam,Yemen,Zambia,
Zimbabwe,England,Scotland,Wales,Northern Ireland,Great Britain,Hong Kong,Macau,Tibet,Siberia,Europe,Asia,Africa,
North America,South America,Latin America,Antarctica,Scandinavia,
Abu Dhabi,Abuja,Accra,Addis Ababa,Algiers,Amman,Amsterdam,Ankara,Athens,Auckland,Baghdad,Baku,Bangalore,Bengaluru,
Bangkok,Barcelona,Beijing,Beirut,Belgrade,Berlin,Bern,Birmingham,Bogota,Bogotá,Bologna,Bordeaux,Boston,Brasilia,
Bratislava,Brisbane,Bristol,Brussels,Bucharest,Budapest,Buenos Aires,Cairo,Calgary,Canberra,Cape Town,Caracas,
Casablanca,Chengdu,Chennai,Chicago,Chongqing,Cologne,Copenhagen,Dakar,Dalian,Dallas,Damascus,Delhi,New Delhi,Denver,
Detroit,Dhaka,Doha,Dubai,Dublin,Düsseldorf,Edinburgh,Frankfurt,Geneva,Glasgow,Guangzhou,Hamburg,Hangzhou,Hanoi,Harare,
Harbin,Havana,Helsinki,Ho Chi Minh City,Honolulu,Houston,Hyderabad,Islamabad,Istanbul,Jakarta,Jerusalem,Johannesburg,
Kabul,Karachi,Kathmandu,Khartoum,Kolkata,Kuala Lumpur,Kunming,Kyiv,Kiev,Kyoto,Lagos,Lahore,Las Vegas,Leeds,Lima,Lisbon,
Liverpool,Ljubljana,London,Los Angeles,Lyon,Madrid,Manchester,Manila,Marrakech,Marseille,Melbourne,Mexico City,Miami,
Milan,Minneapolis,Minsk,Montevideo,Montreal,Moscow,Mumbai,Munich,Nairobi,Nagoya,Nanjing,Naples,Nashville,New Orleans,
New York,New York City,Osaka,Oslo,Ottawa,Palermo,Paris,Perth,Philadelphia,Phnom Penh,Pittsburgh,Prague,Pyongyang,
Qingdao,Quito,Reykjavik,Riga,Rio de Janeiro,Riyadh,Rome,Rotterdam,Saigon,Salt Lake City,Salzburg,San Diego,
San Francisco,San José,San Jose,São Paulo,Sao Paulo,Sapporo,Sarajevo,Seattle,Seoul,Seville,Shanghai,Shenzhen,Skopje,
Stockholm,Stuttgart,Suzhou,Sydney,Taipei,Tallinn,Tashkent,Tbilisi,Tehran,Tel Aviv,Tianjin,Tokyo,Toronto,Tripoli,Turin,
Ulaanbaatar,Valencia,Vancouver,Venice,Vienna,Vilnius,Warsaw,Wellington,Wuhan,Xiamen,Yangon,Yerevan,Yokohama,Zagreb,
Zurich,Zürich,Alabama,Alaska,Arizona,Arkansas,California,Colorado,Connecticut,Delaware,Florida,Hawaii,Idaho,Illinois,
Indiana,Iowa,Kansas,Kentucky,Louisiana,Maine,Maryland,Massachusetts,Michigan,Minnesota,Mississippi,Missouri,Montana,
Nebraska,Nevada,New Hampshire,New Jersey,New Mexico,North Carolina,North Dakota,Ohio,Oklahoma,Oregon,Pennsylvania,
Rhode Island,South Carolina,South Dakota,Tennessee,Texas,Utah,Vermont,West Virginia,Wisconsin,Wyoming,Ontario,Quebec,
British Columbia,Nova Scotia,Bavaria,Catalonia,Tuscany,Sicily,Provence,Normandy,Bali,Okinawa,Hokkaido,Cornwall,
Yorkshire
"""
_AFTER_IN = """
Georgia,Jordan,Turkey,Chad,Niger,Togo,Nice,Bath,Reading,Cork,Lincoln,Florence,Sofia,Victoria,Virginia,Washington,
Charlotte,Austin,Madison,Jackson,Phoenix,Portland,Cambridge,Oxford,Santiago,Alexandria,Orlando,Columbus,Split,Tours,
Kingston,Atlanta,Sacramento,Tampa,Cleveland,Buffalo,Memphis,Santa Fe,Granada,Cordoba,York,Hamilton,Windsor,Nancy,Brest,
Essen,Bergen,Lucerne,Luxor,Aurora,Mobile,Orange,Surrey,Dover,Paisley,Chelsea,Brooklyn,Queens,Manhattan,Bronx,Hollywood,
Kent,Devon,Crete,Malaga,Porto,Bonn,Ghent,Bruges,Lille,Nantes,Pisa,Verona,Basel,Graz,Linz,Krakow,Gdansk,Brno
"""

_GIVEN = """
Aaron Abigail Adrian Agnes Aisha Alan Albert Alejandro Alessandro Alexander Alexandra Alfred Alice Alicia Alison Allison
Amanda Amelia Amir Amy Ana Andrea Andreas Andrew Andy Angela Angelina Anita Anna Anne Annie Anthony Antoine Antonio
Arthur Ashley Audrey Barbara Beatrice Ben Benjamin Bernard Bernd Beth Betty Bianca Bob Bobby Brandon Brenda Brian
Bridget Bruno Caleb Cameron Camila Camille Carl Carla Carlos Carmen Carol Caroline Catherine Cathy Cecilia Charles
Charlie Chloe Chris Christian Christina Christine Christopher Claire Clara Claudia Colin Connor Craig Cynthia Dan Daniel
Daniela Danielle Darren Dave David Deborah Debra Dennis Diana Diego Dmitri Dominic Donald Donna Dorothy Doug Douglas
Duncan Dylan Eddie Edith Edward Eileen Elaine Eleanor Elena Eli Elias Elijah Elizabeth Ella Ellen Ellie Emily Emma Eric
Erica Erik Erin Esther Ethan Eugene Eva Evan Evelyn Fatima Felicity Fernando Fiona Francesca Francesco Francis Francois
Fred Frederick Gabriel Gabriela Gareth Gary Gavin Gemma Geoffrey George Gerald Gillian Gina Giovanni Giulia Gloria
Gordon Graham Greg Gregory Guido Hannah Hans Harold Harriet Harry Heather Heidi Helen Helena Helga Henri Henry Howard
Hugo Ian Ibrahim Igor Ingrid Irene Isaac Isabel Isabella Isabelle Ivan Jacob Jacqueline Jake James Jamie Jan Jane Janet
Janice Jason Javier Jean Jeff Jeffrey Jennifer Jenny Jeremy Jerome Jerry Jessica Jill Jim Jimmy Joan Joanna Joe Joel
Johan Johanna John Jonas Jonathan Jorge Jose Joseph Josephine Josh Joshua Juan Juan Judith Judy Julia Julian Juliana
Julie Juliet Julio Justin Kai Karen Karl Kate Katherine Kathleen Kathryn Kathy Katie Katja Kayla Keith Kelly Ken Kenneth
Kevin Kim Kimberly Klaus Kristen Kristin Kyle Lars Laura Lauren Laurence Leah Lena Leo Leon Leonard Leonardo Leslie Liam
Linda Lisa Liz Lorenzo Louis Louise Luca Lucas Lucia Lucy Luis Lukas Luke Lydia Madeleine Malcolm Manuel Marc Marcel
Marco Marcus Margaret Maria Marianne Marie Marina Mario Marion Marta Martha Martin Martina Matteo Matthew Matthias
Maurice Maya Megan Mei Melanie Melissa Mia Michael Michelle Miguel Mike Miriam Mohammed Mohamed Monica Nadia Naomi
Natalia Natalie Natasha Nathan Neil Nicholas Nick Nicola Nicolas Nicole Nigel Nikolai Nina Noah Nora Norman Oliver
Olivia Omar Oscar Otto Pablo Pamela Paolo Patricia Patrick Paul Paula Pauline Pedro Penelope Peter Philip Phil Phillip
Pierre Rachel Rafael Ralph Ramon Raymond Rebecca Renee Ricardo Richard Rick Rita Rob Robert Roberta Roberto Rodney Roger
Roland Ronald Rosa Rosemary Ross Roxanne Roy Rudolf Russell Ruth Ryan Sabine Sally Sam Samantha Samuel Sandra Sara Sarah
Scott Sean Sebastian Sergei Sergio Shannon Sharon Sheila Shirley Silvia Simon Simone Sophia Sophie Stefan Stefano
Stephanie Stephen Steve Steven Stuart Susan Susanna Susie Svetlana Sylvia Tamara Tania Tanya Tara Ted Teresa Thomas Tim
Timothy Tina Tobias Todd Tom Tommy Tony Tracy Trevor Tyler Ulrich Ursula Valentina Valerie Vanessa Vera Veronica Victor
Vincent Vivian Vladimir Walter Wanda Wayne Wendy Wesley Wilhelm William Wolfgang Xavier Yasmin Yolanda Yusuf Yvonne
Zachary Zoe
"""

_CHINESE = """
中国 美国 英国 法国 德国 日本 韩国 朝鲜 俄罗斯 印度 意大利 西班牙 葡萄牙 荷兰 比利时 瑞士 瑞典 挪威 芬兰 丹麦 冰岛
爱尔兰 波兰 捷克 匈牙利 奥地利 希腊 土耳其 以色列 伊朗 伊拉克 埃及 南非 肯尼亚 尼日利亚 摩洛哥 巴西 阿根廷 智利 秘鲁
墨西哥 古巴 加拿大 澳大利亚 澳洲 新西兰 新加坡 马来西亚 泰国 越南 柬埔寨 老挝 缅甸 印尼 印度尼西亚 菲律宾 尼泊尔 蒙古
乌克兰 罗马尼亚 保加利亚 塞尔维亚 克罗地亚 沙特阿拉伯 阿联酋 卡塔尔 巴基斯坦 孟加拉 斯里兰卡 马尔代夫 毛里求斯 欧洲
亚洲 非洲 北美 南美 北京 上海 天津 重庆 香港 澳门 台湾 台北 高雄 广州 深圳 珠海 东莞 佛山 杭州 宁波 温州 南京 苏州
无锡 常州 扬州 合肥 武汉 长沙 南昌 福州 厦门 泉州 济南 青岛 烟台 郑州 洛阳 西安 成都 昆明 大理 丽江 贵阳 南宁 桂林
海口 三亚 沈阳 大连 长春 哈尔滨 石家庄 太原 呼和浩特 兰州 西宁 银川 乌鲁木齐 拉萨 河北 山西 辽宁 吉林 黑龙江 江苏 浙江
安徽 福建 江西 山东 河南 湖北 湖南 广东 广西 海南 四川 贵州 云南 陕西 甘肃 青海 内蒙古 宁夏 新疆 西藏 东京 大阪 京都
名古屋 札幌 北海道 冲绳 福冈 首尔 釜山 济州岛 曼谷 清迈 普吉岛 巴厘岛 吉隆坡 河内 胡志明市 马尼拉 雅加达 新德里 孟买
迪拜 莫斯科 伦敦 巴黎 柏林 慕尼黑 法兰克福 汉堡 罗马 米兰 威尼斯 佛罗伦萨 马德里 巴塞罗那 里斯本 阿姆斯特丹 布鲁塞尔
苏黎世 日内瓦 维也纳 布拉格 布达佩斯 华沙 雅典 伊斯坦布尔 赫尔辛基 斯德哥尔摩 哥本哈根 奥斯陆 都柏林 爱丁堡 曼彻斯特
开罗 纽约 洛杉矶 旧金山 芝加哥 波士顿 西雅图 华盛顿 拉斯维加斯 迈阿密 休斯顿 夏威夷 多伦多 温哥华 蒙特利尔 悉尼 墨尔本
布里斯班 奥克兰 加州
"""


def _by_first(text: str) -> dict[str, tuple[str, ...]]:
    """Names by their first word, the longest first."""
    names_by_first: dict[str, list[str]] = {}
    for name in (" ".join(entry.split()) for entry in text.split(",")):
        names_by_first.setdefault(name.split()[0], []).append(name)
    return {first: tuple(sorted(names, key=len, reverse=True)) for first, names in names_by_first.items()}


PLACES: Final = _by_first(_PLACES)
AFTER_IN: Final = _by_first(_AFTER_IN)
"""Places that are also words or names of people: only after `in`, `to`, `from` and their like."""
GIVEN: Final = frozenset(_GIVEN.split())
"""Given names that are hardly anything else."""
CHINESE_PLACES: Final = frozenset(_CHINESE.split())
