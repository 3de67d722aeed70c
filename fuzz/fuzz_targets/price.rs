//! Parsing a price never panics, loses no digit and keeps the text.
#![no_main]

use catalog::product::price::{MAX_CHARS, MAX_DECIMALS, Price};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let price = match Price::parse(text) {
        Ok(price) => price,
        Err(fault) => {
            assert!(!fault.to_string().is_empty());
            return;
        }
    };
    assert_eq!(price.text(), text);
    assert!(text.chars().count() <= MAX_CHARS);
    let Some(money) = price.money() else { panic!("an accepted price says nothing") };
    assert!(money.amount.scale() as usize <= MAX_DECIMALS);

    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    assert_eq!(digits.parse(), Ok(money.amount.mantissa()));
    assert_eq!(Price::parse(price.text()), Ok(price));
});
