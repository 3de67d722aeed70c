//! Price phrases in English.

use expect_test::expect;

use super::check;

#[test]
fn below_excludes_the_amount() {
    check("red shoes under $50", expect!["red shoes | price < 50 USD"]);
    check("shoes below 50 dollars", expect!["shoes | price < 50 USD"]);
    check("headphones less than $100", expect!["headphones | price < 100 USD"]);
    check("lamp cheaper than 30 euros", expect!["lamp | price < 30 EUR"]);
    check("lamp cheaper than 30", expect!["lamp | price < 30"]);
    check("laptop under 1000", expect!["laptop | price < 1000"]);
    check("under 50", expect![" | price < 50"]);
    check("under $20", expect![" | price < 20 USD"]);
    check("UNDER $20", expect![" | price < 20 USD"]);
    check("sub $200 tablet", expect!["tablet | price < 200 USD"]);
    check("sub-$200 tablet", expect!["tablet | price < 200 USD"]);
    check("sub-200 tablet", expect!["tablet | price < 200"]);
    check("tablet < $200", expect!["tablet | price < 200 USD"]);
    check("gifts for under 20 dollars", expect!["gifts | price < 20 USD"]);
    check("gifts for less than twenty bucks", expect!["gifts | price < 20 USD"]);
    check("bluetooth speaker priced under 40", expect!["bluetooth speaker | price < 40"]);
    check("under 50 wireless headphones", expect!["wireless headphones | price < 50"]);
    check("best rated toaster under 30$", expect!["best rated toaster | price < 30 USD"]);
    check("bottle under 1 liter below $20", expect!["bottle under 1 liter | price < 20 USD"]);
    check("monitor over 27 inches under $300", expect!["monitor over 27 inches | price < 300 USD"]);
    check("chairs for 4 people under 300", expect!["chairs 4 people | price < 300"]);
    check("books for ages 5 to 7 under $15", expect!["books ages 5 7 | price < 15 USD"]);
    check(
        "gaming laptop with rtx 4070 under $1500",
        expect!["gaming laptop rtx 4070 | price < 1500 USD"],
    );
    check("running shoes under 100, black", expect!["running shoes black | price < 100"]);
    check("jacket under 150 for men", expect!["jacket men | price < 150"]);
    check("size 10 shoes under 100", expect!["size 10 shoes | price < 100"]);
    check("toys for 3 year old under 20 dollars", expect!["toys 3 year old | price < 20 USD"]);
    check("5 drawer dresser under $200", expect!["5 drawer dresser | price < 200 USD"]);
    check("50 inch tv under 400", expect!["50 inch tv | price < 400"]);
    check("1000 piece puzzle under 25", expect!["1000 piece puzzle | price < 25"]);
    check("levis 501 under 60", expect!["levis 501 | price < 60"]);
    check("iphone 15 under $700", expect!["iphone 15 | price < 700 USD"]);
    check("4k tv under 500", expect!["4k tv | price < 500"]);
    check("a sofa that costs less than 800", expect!["sofa | price < 800"]);
}

#[test]
fn at_most_includes_the_amount() {
    check("shoes up to $50", expect!["shoes | price <= 50 USD"]);
    check("shoes up to 50", expect!["shoes | price <= 50"]);
    check("shoes at most 50 dollars", expect!["shoes | price <= 50 USD"]);
    check("shoes max $50", expect!["shoes | price <= 50 USD"]);
    check("shoes max price 50", expect!["shoes | price <= 50"]);
    check("shoes maximum price of 50", expect!["shoes | price <= 50"]);
    check("shoes not more expensive than 50", expect!["shoes | price <= 50"]);
    check("shoes (up to 50)", expect!["shoes | price <= 50"]);
    check("shoes, my max is 50", expect!["shoes | price <= 50"]);
    check("shoes max 50", expect!["shoes | price <= 50"]);
    check("shoes max. 50 eur", expect!["shoes | price <= 50 EUR"]);
    check("shoes maximum 50", expect!["shoes | price <= 50"]);
    check("shoes no more than 50", expect!["shoes | price <= 50"]);
    check("shoes not more than $50", expect!["shoes | price <= 50 USD"]);
    check("shoes not over 50", expect!["shoes | price <= 50"]);
    check("shoes within 50", expect!["shoes | price <= 50"]);
    check("shoes within $50", expect!["shoes | price <= 50 USD"]);
    check("shoes budget of 50", expect!["shoes | price <= 50"]);
    check("shoes budget 50", expect!["shoes | price <= 50"]);
    check("shoes, my budget is 50", expect!["shoes | price <= 50"]);
    check("budget: $50 shoes", expect!["shoes | price <= 50 USD"]);
    check("laptop with a budget of 800 euros", expect!["laptop | price <= 800 EUR"]);
    check("laptop on a budget of $800", expect!["laptop | price <= 800 USD"]);
    check("shoes $50 or less", expect!["shoes | price <= 50 USD"]);
    check("shoes 50 or less", expect!["shoes | price <= 50"]);
    check("shoes 50 dollars or under", expect!["shoes | price <= 50 USD"]);
    check("shoes $50 max", expect!["shoes | price <= 50 USD"]);
    check("shoes 50 max", expect!["shoes | price <= 50"]);
    check("shoes 50 bucks tops", expect!["shoes | price <= 50 USD"]);
    check("shoes not exceeding $50", expect!["shoes | price <= 50 USD"]);
    check("shoes <= $50", expect!["shoes | price <= 50 USD"]);
    check("shoes ≤ 50 €", expect!["shoes | price <= 50 EUR"]);
    check("i have $50 to spend on shoes", expect!["shoes | price <= 50 USD"]);
    check("i can spend 50 on shoes", expect!["shoes | price <= 50"]);
    check("a 50 dollar budget for shoes", expect!["shoes | price <= 50 USD"]);
    check("not above $300 office chair", expect!["office chair | price <= 300 USD"]);
}

#[test]
fn above_and_at_least() {
    check("watch over $500", expect!["watch | price > 500 USD"]);
    check("watch above 500", expect!["watch | price > 500"]);
    check("watch more than 500 dollars", expect!["watch | price > 500 USD"]);
    check("watch pricier than 500", expect!["watch | price > 500"]);
    check("watch more expensive than $500", expect!["watch | price > 500 USD"]);
    check("watch > $500", expect!["watch | price > 500 USD"]);
    check("watch at least 500", expect!["watch | price >= 500"]);
    check("watch at least $500", expect!["watch | price >= 500 USD"]);
    check("watch from $500", expect!["watch | price >= 500 USD"]);
    check("watch from 500", expect!["watch | price >= 500"]);
    check("watch min $500", expect!["watch | price >= 500 USD"]);
    check("watch minimum price 500", expect!["watch | price >= 500"]);
    check("watch minimum 500", expect!["watch | price >= 500"]);
    check("watch starting at $500", expect!["watch | price >= 500 USD"]);
    check("watch $500 or more", expect!["watch | price >= 500 USD"]);
    check("watch $500+", expect!["watch | price >= 500 USD"]);
    check("watch 500 dollars and up", expect!["watch | price >= 500 USD"]);
    check("watch no less than 500", expect!["watch | price >= 500"]);
    check("watch upwards of $500", expect!["watch | price >= 500 USD"]);
    check("watch >= 500 eur", expect!["watch | price >= 500 EUR"]);
    check("watch not under 500", expect!["watch | price >= 500"]);
    check("watch north of two grand", expect!["watch | price > 2000"]);
}

#[test]
fn ranges() {
    check("shoes between $20 and $50", expect!["shoes | 20 <= price <= 50 USD"]);
    check("shoes between 20 and 50", expect!["shoes | 20 <= price <= 50"]);
    check("shoes between 20 and 50 euros", expect!["shoes | 20 <= price <= 50 EUR"]);
    check("shoes $20 to $50", expect!["shoes | 20 <= price <= 50 USD"]);
    check("shoes $20-$50", expect!["shoes | 20 <= price <= 50 USD"]);
    check("shoes $20-50", expect!["shoes | 20 <= price <= 50 USD"]);
    check("shoes 20-50 dollars", expect!["shoes | 20 <= price <= 50 USD"]);
    check("shoes 20 – 50 €", expect!["shoes | 20 <= price <= 50 EUR"]);
    check("shoes from $20 to $50", expect!["shoes | 20 <= price <= 50 USD"]);
    check("shoes from 20 to 50 dollars", expect!["shoes | 20 <= price <= 50 USD"]);
    check("shoes price 20 to 50", expect!["shoes | 20 <= price <= 50"]);
    check("shoes price 20-50", expect!["shoes | 20 <= price <= 50"]);
    check("shoes price range 20-50", expect!["shoes | 20 <= price <= 50"]);
    check("shoes in the $20 to $50 range", expect!["shoes | 20 <= price <= 50 USD"]);
    check("shoes budget 20 to 50", expect!["shoes | 20 <= price <= 50"]);
    check("laptop 1-2k dollars", expect!["laptop | 1000 <= price <= 2000 USD"]);
    check("laptop between 1k and 2k", expect!["laptop | 1000 <= price <= 2000"]);
    check(
        "laptop between one and two thousand dollars",
        expect!["laptop | 1000 <= price <= 2000 USD"],
    );
    check("shoes between 50 and 20", expect!["shoes | 20 <= price <= 50"]);
    check("shoes between £20 and £50", expect!["shoes | 20 <= price <= 50 GBP"]);
    check("shoes over 20 under 50", expect!["shoes | price > 20; price < 50"]);
    check("shoes above $20 but under $50", expect!["shoes | price > 20 USD; price < 50 USD"]);
    check("shoes at least 20 and at most 50", expect!["shoes | price >= 20; price <= 50"]);
}

#[test]
fn about_is_within_a_fifth() {
    check("shoes about $50", expect!["shoes | 40 <= price <= 60 USD"]);
    check("shoes around 50", expect!["shoes | 40 <= price <= 60"]);
    check("shoes around 50 dollars", expect!["shoes | 40 <= price <= 60 USD"]);
    check("shoes roughly $50", expect!["shoes | 40 <= price <= 60 USD"]);
    check("shoes approximately 50 eur", expect!["shoes | 40 <= price <= 60 EUR"]);
    check("shoes ~$50", expect!["shoes | 40 <= price <= 60 USD"]);
    check("shoes ~50", expect!["shoes | 40 <= price <= 60"]);
    check("lunch box for $12", expect!["lunch box | 9.6 <= price <= 14.4 USD"]);
    check("lunch box for 12 dollars", expect!["lunch box | 9.6 <= price <= 14.4 USD"]);
    check("lunch box at $12", expect!["lunch box | 9.6 <= price <= 14.4 USD"]);
    check("shoes priced at 50", expect!["shoes | 40 <= price <= 60"]);
    check("shoes price 50", expect!["shoes | 40 <= price <= 60"]);
    check("shoes that cost about 50", expect!["shoes | 40 <= price <= 60"]);
    check("shoes $50 or so", expect!["shoes | 40 <= price <= 60 USD"]);
    check("shoes costing around 50 bucks", expect!["shoes | 40 <= price <= 60 USD"]);
    check("shoes close to £50", expect!["shoes | 40 <= price <= 60 GBP"]);
}

#[test]
fn amounts_in_digits() {
    check("laptop under $1,299.00", expect!["laptop | price < 1299.00 USD"]);
    check("laptop under 1.299,00 €", expect!["laptop | price < 1299.00 EUR"]);
    check("laptop under 1.299 €", expect!["laptop | price < 1299 EUR"]);
    check("laptop under 1 299 €", expect!["laptop | price < 1299 EUR"]);
    check("laptop under 1'299 CHF", expect!["laptop | price < 1299 CHF"]);
    check("laptop under 2k", expect!["laptop | price < 2000"]);
    check("laptop under $2k", expect!["laptop | price < 2000 USD"]);
    check("laptop under $1.5k", expect!["laptop | price < 1500 USD"]);
    check("laptop under 1.5k", expect!["laptop | price < 1500"]);
    check("pen under $0.99", expect!["pen | price < 0.99 USD"]);
    check("pen under 99 cents", expect!["pen | price < 0.99"]);
    check("pen under 50 pence", expect!["pen | price < 0.5 GBP"]);
    check("house under 2 million dollars", expect!["house | price < 2000000 USD"]);
    check("phone under 2 lakh rupees", expect!["phone | price < 200000 INR"]);
    check("phone under 5 hundred", expect!["phone | price < 500"]);
}

#[test]
fn amounts_in_words() {
    check("shoes under twenty", expect!["shoes | price < 20"]);
    check("shoes under twenty dollars", expect!["shoes | price < 20 USD"]);
    check("laptop under nine hundred", expect!["laptop | price < 900"]);
    check("lunch under twelve fifty", expect!["lunch | price < 12.5"]);
    check("tv under a hundred", expect!["tv | price < 100"]);
    check("laptop under two and a half thousand", expect!["laptop | price < 2500"]);
    check("laptop under two and a half thousand dollars", expect!["laptop | price < 2500 USD"]);
    check("shirt for under fifty bucks", expect!["shirt | price < 50 USD"]);
    check("shirt around thirty-five dollars", expect!["shirt | 28 <= price <= 42 USD"]);
    check("car under twenty five thousand euros", expect!["car | price < 25000 EUR"]);
    check("laptop under a grand", expect!["laptop | price < 1000"]);
    check("laptop under one and a half grand", expect!["laptop | price < 1500"]);
    check("shirt under a tenner", expect!["shirt | price < 10 GBP"]);
    check("mug under a fiver", expect!["mug | price < 5 GBP"]);
    check("candy under a dollar", expect!["candy | price < 1 USD"]);
    check("sofa no more than a thousand", expect!["sofa | price <= 1000"]);
    check("shirt under nineteen ninety nine", expect!["shirt | price < 19.99"]);
    check("sofa under a hundred and fifty quid", expect!["sofa | price < 150 GBP"]);
}

#[test]
fn currencies_by_sign_code_name_and_slang() {
    check("tea under $5", expect!["tea | price < 5 USD"]);
    check("tea under 5 usd", expect!["tea | price < 5 USD"]);
    check("tea under us$5", expect!["tea | price < 5 USD"]);
    check("tea under 5 bucks", expect!["tea | price < 5 USD"]);
    check("tea under 5 us dollars", expect!["tea | price < 5 USD"]);
    check("tea under €5", expect!["tea | price < 5 EUR"]);
    check("tea under 5 eur", expect!["tea | price < 5 EUR"]);
    check("tea under eur 5", expect!["tea | price < 5 EUR"]);
    check("tea under 5 euros", expect!["tea | price < 5 EUR"]);
    check("tea under £5", expect!["tea | price < 5 GBP"]);
    check("tea under 5 gbp", expect!["tea | price < 5 GBP"]);
    check("tea under 5 quid", expect!["tea | price < 5 GBP"]);
    check("tea under 5 pounds", expect!["tea | price < 5 GBP"]);
    check("tea under ¥500", expect!["tea | price < 500 JPY"]);
    check("tea under 500 jpy", expect!["tea | price < 500 JPY"]);
    check("tea under 500 yen", expect!["tea | price < 500 JPY"]);
    check("tea under 500円", expect!["tea | price < 500 JPY"]);
    check("tea under ₹500", expect!["tea | price < 500 INR"]);
    check("tea under 500 inr", expect!["tea | price < 500 INR"]);
    check("tea under rs 500", expect!["tea | price < 500 INR"]);
    check("tea under rs. 500", expect!["tea | price < 500 INR"]);
    check("tea under 500 rupees", expect!["tea | price < 500 INR"]);
    check("tea under 500 ₽", expect!["tea | price < 500 RUB"]);
    check("tea under 500 rub", expect!["tea | price < 500 RUB"]);
    check("tea under 500 rubles", expect!["tea | price < 500 RUB"]);
    check("tea under 50 cny", expect!["tea | price < 50 CNY"]);
    check("tea under 50 yuan", expect!["tea | price < 50 CNY"]);
    check("tea under 50 rmb", expect!["tea | price < 50 CNY"]);
    check("tea under 50元", expect!["tea | price < 50 CNY"]);
    check("tea under R$50", expect!["tea | price < 50 BRL"]);
    check("tea under 50 brl", expect!["tea | price < 50 BRL"]);
    check("tea under 50 reais", expect!["tea | price < 50 BRL"]);
    check("tea under CA$50", expect!["tea | price < 50 CAD"]);
    check("tea under $50 CAD", expect!["tea | price < 50 CAD"]);
    check("tea under 50 cad", expect!["tea | price < 50 CAD"]);
    check("tea under 50 canadian dollars", expect!["tea | price < 50 CAD"]);
    check("tea under 50 loonies", expect!["tea | price < 50 CAD"]);
    check("tea under A$50", expect!["tea | price < 50 AUD"]);
    check("tea under 50 aud", expect!["tea | price < 50 AUD"]);
    check("tea under 50 australian dollars", expect!["tea | price < 50 AUD"]);
    check("tea under 50 chf", expect!["tea | price < 50 CHF"]);
    check("tea under 50 swiss francs", expect!["tea | price < 50 CHF"]);
    check("tea under 50 pln", expect!["tea | price < 50 PLN"]);
    check("tea under 50 zł", expect!["tea | price < 50 PLN"]);
    check("tea under 50 zloty", expect!["tea | price < 50 PLN"]);
    check("tea under 50 try", expect!["tea | price < 50 TRY"]);
    check("tea under ₺50", expect!["tea | price < 50 TRY"]);
    check("tea under 50 lira", expect!["tea | price < 50 TRY"]);
    check("tea under 50 uah", expect!["tea | price < 50 UAH"]);
    check("tea under ₴50", expect!["tea | price < 50 UAH"]);
    check("tea under 50 hryvnia", expect!["tea | price < 50 UAH"]);
    check("tea under ₩5000", expect!["tea | price < 5000 KRW"]);
    check("tea under 5000 krw", expect!["tea | price < 5000 KRW"]);
    check("tea under 5000 won", expect!["tea | price < 5000 KRW"]);
    check("tea under 50 kr", expect!["tea | price < 50"]);
    check("tea under 50 pesos", expect!["tea | price < 50"]);
    check("tea under 50 PHP", expect!["tea | price < 50 PHP"]);
    check("tea under 50 sek", expect!["tea | price < 50 SEK"]);
}
