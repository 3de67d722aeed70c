//! Negated comparisons, budgets, and negations that do not concern the price.

use expect_test::expect;

use super::{abstains, check};

#[test]
fn a_negated_ceiling_cue_is_an_inclusive_ceiling() {
    check("shoes, can't pay more than $80", expect!["shoes | price <= 80 USD"]);
    check("shoes, can’t pay more than $80", expect!["shoes | price <= 80 USD"]);
    check("shoes cant pay more than $80", expect!["shoes | price <= 80 USD"]);
    check("i can't pay more than 80 for shoes", expect!["shoes | price <= 80"]);
    check("i cannot spend over 80 on shoes", expect!["shoes | price <= 80"]);
    check("i can not spend over 80 on shoes", expect!["shoes | price <= 80"]);
    check("shoes nothing over 80", expect!["shoes | price <= 80"]);
    check("shoes nothing above $80", expect!["shoes | price <= 80 USD"]);
    check("nothing above 80", expect![" | price <= 80"]);
    check("shoes won't go above 80", expect!["shoes | price <= 80"]);
    check("shoes wont go above 80", expect!["shoes | price <= 80"]);
    check("shoes not over 80", expect!["shoes | price <= 80"]);
    check("shoes not more than 80", expect!["shoes | price <= 80"]);
    check("shoes no more than 80", expect!["shoes | price <= 80"]);
    check("shoes no higher than 80", expect!["shoes | price <= 80"]);
    check("shoes not exceeding 80", expect!["shoes | price <= 80"]);
    check("shoes not to exceed $80", expect!["shoes | price <= 80 USD"]);
    check("shoes must not exceed 80", expect!["shoes | price <= 80"]);
    check("shoes no pricier than 8", expect!["shoes | price <= 8"]);
    check("shoes not more expensive than 50", expect!["shoes | price <= 50"]);
    check("i don't want to spend more than 80 on shoes", expect!["shoes | price <= 80"]);
    check("i do not want to spend more than 80 on shoes", expect!["shoes | price <= 80"]);
    check("i wouldn't pay over $80 for shoes", expect!["shoes | price <= 80 USD"]);
    check("i'm not willing to pay more than 80 for shoes", expect!["shoes | price <= 80"]);
    check("i'd rather not spend more than 80 on shoes", expect!["shoes | price <= 80"]);
    check("not going to spend over fifty bucks on shoes", expect!["shoes | price <= 50 USD"]);
    check("can't afford more than 80 euros shoes", expect!["shoes | price <= 80 EUR"]);
    check("shoes never more than 80", expect!["shoes | price <= 80"]);
    check("shoes that aren't over 80", expect!["shoes | price <= 80"]);
    check("shoes that isn't more than 80", expect!["shoes | price <= 80"]);
    check("shoes which are not above $80", expect!["shoes | price <= 80 USD"]);
    check("shoes that don't cost more than 80", expect!["shoes | price <= 80"]);
    check("shoes that doesn't cost more than 8", expect!["shoes | price <= 8"]);
    check("shoes without going over 80", expect!["shoes | price <= 80"]);
    check("shoes without being more than $80", expect!["shoes | price <= 80 USD"]);
    check("shoes without spending more than 80", expect!["shoes | price <= 80"]);
    check("shoes nothing that costs more than 80", expect!["shoes | price <= 80"]);
    check("shoes, i don't want anything over 80", expect!["shoes | price <= 80"]);
    check("shoes, don't show me anything above 80", expect!["shoes | price <= 80"]);
    check("shoes not a penny over 80", expect!["shoes | price <= 80"]);
    check("shoes price not over 8", expect!["shoes | price <= 8"]);
    check("shoes spend no more than 8", expect!["shoes | price <= 8"]);
    check("shoes budget not over 8", expect!["shoes | price <= 8"]);
    check("shoes, can't do more than 80", expect!["shoes | price <= 80"]);
    check("shoes no more then $80", expect!["shoes | price <= 80 USD"]);
    check("shoes up to $80 and not a cent more", expect!["shoes | price <= 80 USD"]);
    check("shoes $80 and no more", expect!["shoes | price <= 80 USD"]);
    check("shoes nothing $80 or more", expect!["shoes | price < 80 USD"]);
    check("shoes can`t pay more than 80", expect!["shoes | price <= 80"]);
    check("shoes can´t pay more than 80", expect!["shoes | price <= 80"]);
}

#[test]
fn a_negated_floor_cue_is_an_inclusive_floor() {
    check("watch not less than 20", expect!["watch | price >= 20"]);
    check("watch no less than 20", expect!["watch | price >= 20"]);
    check("watch no less expensive than 20", expect!["watch | price >= 20"]);
    check("watch no cheaper than 20", expect!["watch | price >= 20"]);
    check("watch not cheaper than $20", expect!["watch | price >= 20 USD"]);
    check("watch nothing under 20", expect!["watch | price >= 20"]);
    check("watch nothing below $20", expect!["watch | price >= 20 USD"]);
    check("watch not under 20", expect!["watch | price >= 20"]);
    check("watch no lower than 20", expect!["watch | price >= 20"]);
    check("watch, don't show me anything under 20", expect!["watch | price >= 20"]);
    check("watch that doesn't cost less than 20", expect!["watch | price >= 20"]);
    check("watch never below 20", expect!["watch | price >= 20"]);
}

#[test]
fn several_negated_comparisons() {
    check("shoes not under 20 and not over 80", expect!["shoes | price >= 20; price <= 80"]);
    check("shoes not under 20 or over 80", expect!["shoes | price >= 20; price <= 80"]);
    check("shoes neither under 20 nor over 80", expect!["shoes | price >= 20; price <= 80"]);
    check(
        "shoes nothing over $80 or under $20",
        expect!["shoes | price <= 80 USD; price >= 20 USD"],
    );
    check("shoes over 20 but not over 80", expect!["shoes | price > 20; price <= 80"]);
    check("shoes no more than 80, no less than 20", expect!["shoes | price <= 80; price >= 20"]);
    // In these languages and in colloquial English two negations are one.
    check("shoes, don't want nothing over 80", expect!["shoes | price <= 80"]);
}

#[test]
fn other_negations_do_not_invert_a_comparison() {
    check("shoes not black over 80", expect!["shoes | price > 80; not black"]);
    check("shoes without leather over $80", expect!["shoes | price > 80 USD; not leather"]);
    check("no laces, over 80", expect![" | price > 80; not lace"]);
    check(
        "i don't mind paying more than 80 for shoes",
        expect!["don't mind paying shoes | price > 80"],
    );
    check("no problem paying more than $80", expect!["no problem paying | price > 80 USD"]);
    check("can't find anything under 50", expect!["can't find | price < 50"]);
    check("leather or not under 50", expect!["leather not | price < 50"]);
    check("why not under 50", expect!["why not | price < 50"]);
    check("nothing fancy under 50", expect!["nothing fancy | price < 50"]);
    check("chanel no 5 over 100", expect!["chanel no 5 | price > 100"]);
    check("no show socks under 20", expect!["no show socks | price < 20"]);
    check(
        "bag without leather, can't pay more than $80",
        expect!["bag | price <= 80 USD; not leather"],
    );
}

#[test]
fn budgets_are_inclusive_ceilings() {
    check("shoes, my limit is 80", expect!["shoes | price <= 80"]);
    check("shoes, my limit is $8", expect!["shoes | price <= 8 USD"]);
    check("shoes, my budget is 80", expect!["shoes | price <= 80"]);
    check("shoes, my budget's 80", expect!["shoes | price <= 80"]);
    check("shoes max budget 50", expect!["shoes | price <= 50"]);
    check("shoes maximum budget of 50", expect!["shoes | price <= 50"]);
    check("i have 50 dollars to spend on shoes", expect!["shoes | price <= 50 USD"]);
    check("i have 50 to spend on shoes", expect!["shoes | price <= 50"]);
    check("i've got 50 dollars to spend on shoes", expect!["shoes | price <= 50 USD"]);
    check("i only have 50 dollars for shoes", expect!["shoes | price <= 50 USD"]);
    check("i can spend 50 on shoes", expect!["shoes | price <= 50"]);
    check("i can only spend 50 on shoes", expect!["shoes | price <= 50"]);
    check("i can afford 50 for shoes", expect!["shoes | price <= 50"]);
    check("i'm willing to pay $50 for shoes", expect!["shoes | price <= 50 USD"]);
    check("shoes, the most i can spend is 50", expect!["shoes | price <= 50"]);
    check("shoes 80 is my limit", expect!["shoes | price <= 80"]);
    check("shoes $80 is my max", expect!["shoes | price <= 80 USD"]);
    check("shoes spending limit 80", expect!["shoes | price <= 80"]);
    check("shoes, price limit is 80", expect!["shoes | price <= 80"]);
}

#[test]
fn phrases_without_a_definite_condition() {
    abstains(&[
        "speed limit 25 sign",
        "speed limit is 80",
        "no limit",
        "no limit poker set",
        "tv no limit",
        "tv no budget limit",
        "tv no price limit",
        "tv, no budget",
        "tv money is no object",
        "tv price is no object",
        "under armour not over the door",
        "not under armour",
        "over the door hooks not under bed storage",
        "nothing from 50",
        "nothing from $50",
        "not between $20 and $50",
        "not around $50",
        "not $20-$50",
        "not for $50",
        "won't pay $80",
        "can't spend 80",
        "i don't have $50",
        "not only under 50",
        "not just under $50",
        "not necessarily under 50",
        "doesn't have to be under 50",
        "not much over 80",
        "not at least 80",
        "not up to 80",
        "nothing over 80 inches",
        "not more than 3 drawers",
        "no more than 5 inches",
        "size no more than 40",
        "kids not under 5",
        "no lamps over $80",
        "keine lampen über 80 euro",
        "not the cheapest sofa",
        "not the most expensive tv",
        "doesn't have to be the cheapest",
        "nicht das billigste sofa",
        "pas le moins cher",
        "no el más barato",
        "не самый дешевый диван",
    ]);
}

#[test]
fn phrases_for_an_unlimited_budget_are_stop_words() {
    check("tv money is no object", expect!["tv |"]);
    check("tv no budget limit", expect!["tv |"]);
    check("not the cheapest sofa", expect!["sofa |"]);
}

#[test]
fn german() {
    check("schuhe nicht mehr als 80 euro", expect!["schuhe | price <= 80 EUR"]);
    check("schuhe nicht über 80", expect!["schuhe | price <= 80"]);
    check("schuhe nichts über 80 €", expect!["schuhe | price <= 80 EUR"]);
    check("schuhe nicht teurer als 80", expect!["schuhe | price <= 80"]);
    check("ich kann nicht mehr als 80 euro ausgeben schuhe", expect!["schuhe | price <= 80 EUR"]);
    check(
        "ich will nicht mehr als 80 für schuhe zahlen",
        expect!["für schuhe zahlen | price <= 80"],
    );
    check("schuhe auf keinen fall über 80", expect!["schuhe | price <= 80"]);
    check("schuhe niemals mehr als 80", expect!["schuhe | price <= 80"]);
    check("schuhe dürfen 80 euro nicht überschreiten", expect!["schuhe dürfen | price <= 80 EUR"]);
    check("schuhe nicht unter 20", expect!["schuhe | price >= 20"]);
    check("schuhe nichts unter 20", expect!["schuhe | price >= 20"]);
    check("schuhe nicht weniger als 20", expect!["schuhe | price >= 20"]);
    check("schuhe nicht billiger als 20", expect!["schuhe | price >= 20"]);
    check("schuhe mein limit ist 80", expect!["schuhe | price <= 80"]);
    check("ich habe 80 euro schuhe", expect!["schuhe | price <= 80 EUR"]);
    check("schuhe nicht schwarz über 80", expect!["schuhe | price > 80; not schwarz"]);
}

#[test]
fn french() {
    check("chaussures pas plus de 80", expect!["chaussures | price <= 80"]);
    check("chaussures rien au-dessus de 80 €", expect!["chaussures | price <= 80 EUR"]);
    check("chaussures au-dessus de 80 €", expect!["chaussures | price > 80 EUR"]);
    check("chaussures en-dessous de 80 €", expect!["chaussures | price < 80 EUR"]);
    check("chaussures rien à plus de 80 euros", expect!["chaussures | price <= 80 EUR"]);
    check("je ne veux pas payer plus de 80 chaussures", expect!["chaussures | price <= 80"]);
    check(
        "je ne peux pas dépenser plus de 80 € chaussures",
        expect!["chaussures | price <= 80 EUR"],
    );
    check("chaussures jamais plus de 80", expect!["chaussures | price <= 80"]);
    check("chaussures sans dépasser 80 euros", expect!["chaussures | price <= 80 EUR"]);
    check("chaussures qui ne dépassent pas 80 €", expect!["chaussures qui | price <= 80 EUR"]);
    check("chaussures pas moins de 20", expect!["chaussures | price >= 20"]);
    check("chaussures rien en dessous de 20", expect!["chaussures | price >= 20"]);
    check("chaussures pas moins cher que 20", expect!["chaussures | price >= 20"]);
    check("chaussures mon budget est de 80", expect!["chaussures | price <= 80"]);
    check("chaussures j'ai 80 euros", expect!["chaussures | price <= 80 EUR"]);
}

#[test]
fn spanish() {
    check("zapatos no más de 80", expect!["zapatos | price <= 80"]);
    check("zapatos nada por encima de 80 €", expect!["zapatos | price <= 80 EUR"]);
    check("no puedo pagar más de 80 zapatos", expect!["zapatos | price <= 80"]);
    check("no quiero gastar más de 80 euros zapatos", expect!["zapatos | price <= 80 EUR"]);
    check("zapatos que no cuesten más de 80", expect!["zapatos | price <= 80"]);
    check("zapatos que no superen los 80 euros", expect!["zapatos | price <= 80 EUR"]);
    check("zapatos nunca más de 80", expect!["zapatos | price <= 80"]);
    check("zapatos sin pasar de 80", expect!["zapatos | price <= 80"]);
    check("zapatos, no quiero nada por encima de 80", expect!["zapatos | price <= 80"]);
    check("zapatos no más caros que 80", expect!["zapatos | price <= 80"]);
    check("zapatos no menos de 20", expect!["zapatos | price >= 20"]);
    check("zapatos nada por debajo de 20", expect!["zapatos | price >= 20"]);
    check("zapatos mi presupuesto es 80", expect!["zapatos | price <= 80"]);
    check("zapatos mi límite es 80", expect!["zapatos | price <= 80"]);
}

#[test]
fn portuguese() {
    check("sapatos não mais de 80", expect!["sapatos | price <= 80"]);
    check("sapatos não mais do que 80 reais", expect!["sapatos | price <= 80 BRL"]);
    check("sapatos nada acima de 80", expect!["sapatos | price <= 80"]);
    check("não posso pagar mais de 80 sapatos", expect!["sapatos | price <= 80"]);
    check("não quero gastar mais que 80 sapatos", expect!["sapatos | price <= 80"]);
    check("sapatos nunca mais de 80", expect!["sapatos | price <= 80"]);
    check("sapatos que não passem de 80 reais", expect!["sapatos | price <= 80 BRL"]);
    check("sapatos sem ultrapassar 80", expect!["sapatos | price <= 80"]);
    check("sapatos não menos de 20", expect!["sapatos | price >= 20"]);
    check("sapatos nada abaixo de 20", expect!["sapatos | price >= 20"]);
    check("sapatos no máximo 80", expect!["sapatos | price <= 80"]);
    check("sapatos meu orçamento é 80", expect!["sapatos | price <= 80"]);
}

#[test]
fn italian() {
    check("scarpe non più di 80", expect!["scarpe | price <= 80"]);
    check("scarpe non oltre 80 euro", expect!["scarpe | price <= 80 EUR"]);
    check("scarpe niente sopra i 80", expect!["scarpe | price <= 80"]);
    check("non posso spendere più di 80 scarpe", expect!["scarpe | price <= 80"]);
    check("non voglio spendere più di 80 euro scarpe", expect!["scarpe | price <= 80 EUR"]);
    check("scarpe mai più di 80", expect!["scarpe | price <= 80"]);
    check("scarpe che non superino gli 80 euro", expect!["scarpe | price <= 80 EUR"]);
    check("scarpe senza superare 80", expect!["scarpe | price <= 80"]);
    check("scarpe non meno di 20", expect!["scarpe | price >= 20"]);
    check("scarpe niente sotto i 20", expect!["scarpe | price >= 20"]);
    check("scarpe il mio budget è 80", expect!["scarpe | price <= 80"]);
}

#[test]
fn russian() {
    check("кроссовки не более 5000", expect!["кроссовки | price <= 5000"]);
    check("кроссовки не дороже 5000 руб", expect!["кроссовки | price <= 5000 RUB"]);
    check("кроссовки ничего дороже 5000", expect!["кроссовки | price <= 5000"]);
    check("не могу потратить больше 5000 кроссовки", expect!["кроссовки | price <= 5000"]);
    check("я не хочу платить больше 5000 кроссовки", expect!["кроссовки | price <= 5000"]);
    check("кроссовки никогда не дороже 5000", expect!["кроссовки | price <= 5000"]);
    check("кроссовки не превышая 5000 рублей", expect!["кроссовки | price <= 5000 RUB"]);
    check("кроссовки не дешевле 2000", expect!["кроссовки | price >= 2000"]);
    check("кроссовки не меньше 2000", expect!["кроссовки | price >= 2000"]);
    check("кроссовки ничего дешевле 2000", expect!["кроссовки | price >= 2000"]);
    check("кроссовки мой бюджет 5000", expect!["кроссовки | price <= 5000"]);
}
