//! What does a client make of an endpoint that misbehaves?

use std::{net::TcpListener, time::Duration};

use super::endpoint::{Act, DIMS, Endpoint, FakeTime, KEY, remote};
use crate::embed::{EmbedError, Embedder, Text, Turn};

const TEXTS: [Text<'_>; 2] = [Text::Query("sofa"), Text::Query("lamp")];

#[test]
fn a_request_says_what_the_interface_wants() {
    let endpoint = Endpoint::start();
    endpoint.embedder().deep(&["", "lamp"].map(Text::Query), Turn::Search).unwrap();
    let [asked] = &endpoint.asked()[..] else { panic!() };
    assert!(asked.head.starts_with("POST /v1/embeddings HTTP/1.1\r\n"), "{}", asked.head);
    assert!(asked.head.contains(&format!("authorization: Bearer {KEY}\r\n")), "{}", asked.head);
    let expected =
        serde_json::json!({"model": "outside", "input": [" ", "lamp"], "encoding_format": "float"});
    assert_eq!(asked.body, expected);
}

#[test]
fn many_texts_go_in_batches() {
    let endpoint = Endpoint::start();
    let texts = ["a", "b", "c", "d", "e", "f", "g"].map(Text::Query);
    assert_eq!(endpoint.embedder().deep(&texts, Turn::Background).unwrap().len(), 7);
    let sizes: Vec<_> = endpoint
        .asked()
        .iter()
        .map(|asked| asked.body["input"].as_array().unwrap().len())
        .collect();
    assert_eq!(sizes, [3, 3, 1]);
}

#[test]
fn vectors_find_their_texts_by_index() {
    let endpoint = Endpoint::start();
    let remote = endpoint.embedder();
    let straight = remote.deep(&TEXTS, Turn::Search).unwrap();
    endpoint.order([Act::Backwards]);
    assert_eq!(remote.deep(&TEXTS, Turn::Search).unwrap(), straight);
}

#[test]
fn in_the_background_a_failure_is_tried_again() {
    let endpoint = Endpoint::start();
    let time = FakeTime::default();
    endpoint.order([Act::Fail(500, None), Act::Fail(503, None), Act::Say("{")]);
    let remote = remote(endpoint.address, time.surroundings());
    assert_eq!(remote.deep(&TEXTS, Turn::Background).unwrap().len(), 2);
    assert_eq!(endpoint.asked().len(), 4);
    assert_eq!(time.passed(), Duration::from_millis(200 + 400 + 800), "each wait is longer");
}

#[test]
fn a_search_does_not_wait_for_a_second_try() {
    let endpoint = Endpoint::start();
    endpoint.order([Act::Fail(500, None)]);
    let error = endpoint.embedder().deep(&TEXTS, Turn::Search).unwrap_err();
    assert_eq!(error, EmbedError::Overloaded { status: 500, retry_after: None });
    assert!(error.may_retry());
    assert_eq!(endpoint.asked().len(), 1);
}

#[test]
fn an_endpoint_that_asks_for_time_gets_it() {
    let endpoint = Endpoint::start();
    let time = FakeTime::default();
    endpoint.order([Act::Fail(429, Some(3))]);
    let remote = remote(endpoint.address, time.surroundings());
    remote.deep(&TEXTS, Turn::Background).unwrap();
    assert_eq!(time.passed(), Duration::from_secs(3));

    endpoint.order([Act::Fail(429, Some(600))]);
    let error = remote.deep(&TEXTS, Turn::Background).unwrap_err();
    assert_eq!(error.retry_after(), Some(Duration::from_secs(600)), "too long to sit here");
    assert_eq!(time.passed(), Duration::from_secs(3));
}

#[test]
fn a_slow_answer_is_not_waited_for() {
    let endpoint = Endpoint::start();
    endpoint.order([Act::Dawdle]);
    let error = endpoint.embedder().deep(&TEXTS, Turn::Search).unwrap_err();
    assert_eq!(error, EmbedError::TimedOut);
    assert!(error.may_retry());
}

#[test]
fn nonsense_is_refused() {
    let endpoint = Endpoint::start();
    let remote = endpoint.embedder();
    let nonsense = [
        "",
        "<html>",
        r#"{"data": 1}"#,
        r#"{"data": []}"#,
        r#"{"data": [{"index": 0, "embedding": [1,2,3,4,5,6]}]}"#,
        r#"{"data": [{"index": 0, "embedding": [1,2,3,4,5,6]}, {"index": 0, "embedding": [1,2,3,4,5,6]}]}"#,
        r#"{"data": [{"index": 0, "embedding": ["x"]}, {"index": 1, "embedding": [1]}]}"#,
        r#"{"data": [{"index": 0, "embedding": [1,2,3,4,5,1e999]}, {"index": 1, "embedding": [1,2,3,4,5,6]}]}"#,
    ];
    for body in nonsense {
        endpoint.order([Act::Say(body)]);
        let error = remote.deep(&TEXTS, Turn::Search).unwrap_err();
        assert!(matches!(error, EmbedError::Garbled(_)), "{body}: {error}");
        remote.deep(&TEXTS, Turn::Search).unwrap();
    }
}

#[test]
fn vectors_of_another_space_are_refused() {
    let endpoint = Endpoint::start();
    endpoint.order([Act::Dims(7)]);
    let error = endpoint.embedder().deep(&TEXTS, Turn::Background).unwrap_err();
    assert_eq!(error, EmbedError::WrongDims { expected: DIMS, found: 7 });
    assert!(!error.may_retry());
}

#[test]
fn refused_texts_are_not_sent_again() {
    let endpoint = Endpoint::start();
    endpoint.order([Act::Fail(400, None), Act::Fail(401, None)]);
    let remote = endpoint.embedder();
    let error = remote.deep(&TEXTS, Turn::Background).unwrap_err();
    assert!(error.blames_texts() && !error.may_retry());
    let error = remote.deep(&TEXTS, Turn::Background).unwrap_err();
    assert_eq!(error, EmbedError::TurnedAway { status: 401 });
    assert!(!error.blames_texts() && !error.may_retry());
    assert_eq!(endpoint.asked().len(), 2);
}

#[test]
fn nobody_there_is_an_error_like_any_other() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let remote = remote(address, FakeTime::default().surroundings());
    let error = remote.deep(&TEXTS, Turn::Background).unwrap_err();
    assert!(matches!(error, EmbedError::Unreachable(_)), "{error}");
    assert!(error.may_retry());
    let shown = format!("{error} {error:?} {remote:?}");
    assert!(!shown.contains(KEY), "{shown}");
}

#[test]
fn an_endpoint_that_keeps_failing_is_left_alone_and_tried_again() {
    let endpoint = Endpoint::start();
    let time = FakeTime::default();
    let remote = remote(endpoint.address, time.surroundings());
    endpoint.order(std::iter::repeat_n(Act::Fail(500, None), 6));
    for _ in 0..5 {
        let error = remote.deep(&TEXTS, Turn::Search).unwrap_err();
        assert!(matches!(error, EmbedError::Overloaded { .. }), "{error}");
    }
    let left_alone = remote.deep(&TEXTS, Turn::Background).unwrap_err();
    assert_eq!(left_alone.retry_after(), Some(Duration::from_secs(2)));
    assert_eq!(endpoint.asked().len(), 5, "it is not asked while it is left alone");

    time.pass(Duration::from_secs(2));
    let error = remote.deep(&TEXTS, Turn::Search).unwrap_err();
    assert!(matches!(error, EmbedError::Overloaded { .. }), "one try, which fails: {error}");
    assert!(matches!(remote.deep(&TEXTS, Turn::Search), Err(EmbedError::LeftAlone { .. })));

    time.pass(Duration::from_secs(4));
    remote.deep(&TEXTS, Turn::Search).unwrap();
    remote.deep(&TEXTS, Turn::Search).unwrap();
    assert_eq!(endpoint.asked().len(), 8);
}
