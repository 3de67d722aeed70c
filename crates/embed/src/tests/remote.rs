//! The client of a remote model against an endpoint that misbehaves.

use std::{net::TcpListener, time::Duration};

use crate::{
    EmbedError, Embedder, Priority, Text,
    testing::{Act, DIMS, Endpoint, FakeTime, KEY, remote},
};

const TEXTS: [Text<'_>; 2] = [Text::Query("sofa"), Text::Query("lamp")];

#[test]
fn requests_follow_the_interface() {
    let endpoint = Endpoint::start();
    endpoint.embedder().deep(&["", "lamp"].map(Text::Query), Priority::Search).unwrap();
    let [received] = &endpoint.received()[..] else { panic!() };
    assert!(received.head.starts_with("POST /v1/embeddings HTTP/1.1\r\n"), "{}", received.head);
    assert!(
        received.head.contains(&format!("authorization: Bearer {KEY}\r\n")),
        "{}",
        received.head
    );
    let expected =
        serde_json::json!({"model": "outside", "input": [" ", "lamp"], "encoding_format": "float"});
    assert_eq!(received.body, expected);
}

#[test]
fn texts_are_sent_in_batches() {
    let endpoint = Endpoint::start();
    let texts = ["a", "b", "c", "d", "e", "f", "g"].map(Text::Query);
    assert_eq!(endpoint.embedder().deep(&texts, Priority::Background).unwrap().len(), 7);
    let sizes: Vec<_> = endpoint
        .received()
        .iter()
        .map(|received| received.body["input"].as_array().unwrap().len())
        .collect();
    assert_eq!(sizes, [3, 3, 1]);
}

#[test]
fn vectors_are_assigned_by_index() {
    let endpoint = Endpoint::start();
    let remote = endpoint.embedder();
    let straight = remote.deep(&TEXTS, Priority::Search).unwrap();
    endpoint.order([Act::Backwards]);
    assert_eq!(remote.deep(&TEXTS, Priority::Search).unwrap(), straight);
}

#[test]
fn background_work_is_retried() {
    let endpoint = Endpoint::start();
    let time = FakeTime::default();
    endpoint.order([Act::Fail(500, None), Act::Fail(503, None), Act::Say("{")]);
    let remote = remote(endpoint.address, time.environment());
    assert_eq!(remote.deep(&TEXTS, Priority::Background).unwrap().len(), 2);
    assert_eq!(endpoint.received().len(), 4);
    assert_eq!(time.passed(), Duration::from_millis(200 + 400 + 800), "each wait is longer");
}

#[test]
fn searches_are_not_retried() {
    let endpoint = Endpoint::start();
    endpoint.order([Act::Fail(500, None)]);
    let error = endpoint.embedder().deep(&TEXTS, Priority::Search).unwrap_err();
    assert_eq!(error, EmbedError::Overloaded { status: 500, retry_after: None });
    assert!(error.may_retry());
    assert_eq!(endpoint.received().len(), 1);
}

#[test]
fn retry_after_is_respected() {
    let endpoint = Endpoint::start();
    let time = FakeTime::default();
    endpoint.order([Act::Fail(429, Some(3))]);
    let remote = remote(endpoint.address, time.environment());
    remote.deep(&TEXTS, Priority::Background).unwrap();
    assert_eq!(time.passed(), Duration::from_secs(3));

    endpoint.order([Act::Fail(429, Some(600))]);
    let error = remote.deep(&TEXTS, Priority::Background).unwrap_err();
    assert_eq!(error.retry_after(), Some(Duration::from_secs(600)), "too long to sit here");
    assert_eq!(time.passed(), Duration::from_secs(3));
}

#[test]
fn slow_responses_time_out() {
    let endpoint = Endpoint::start();
    endpoint.order([Act::Dawdle]);
    let error = endpoint.embedder().deep(&TEXTS, Priority::Search).unwrap_err();
    assert_eq!(error, EmbedError::TimedOut);
    assert!(error.may_retry());
}

#[test]
fn invalid_responses_are_rejected() {
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
        let error = remote.deep(&TEXTS, Priority::Search).unwrap_err();
        assert!(matches!(error, EmbedError::InvalidResponse(_)), "{body}: {error}");
        remote.deep(&TEXTS, Priority::Search).unwrap();
    }
}

#[test]
fn vectors_of_another_dimension_are_rejected() {
    let endpoint = Endpoint::start();
    endpoint.order([Act::Dims(7)]);
    let error = endpoint.embedder().deep(&TEXTS, Priority::Background).unwrap_err();
    assert_eq!(error, EmbedError::WrongDims { expected: DIMS, found: 7 });
    assert!(!error.may_retry());
}

#[test]
fn rejected_texts_are_not_retried() {
    let endpoint = Endpoint::start();
    endpoint.order([Act::Fail(400, None), Act::Fail(401, None)]);
    let remote = endpoint.embedder();
    let error = remote.deep(&TEXTS, Priority::Background).unwrap_err();
    assert!(error.blames_texts() && !error.may_retry());
    let error = remote.deep(&TEXTS, Priority::Background).unwrap_err();
    assert_eq!(error, EmbedError::Denied { status: 401 });
    assert!(!error.blames_texts() && !error.may_retry());
    assert_eq!(endpoint.received().len(), 2);
}

#[test]
fn an_unreachable_endpoint_is_an_error() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let remote = remote(address, FakeTime::default().environment());
    let error = remote.deep(&TEXTS, Priority::Background).unwrap_err();
    assert!(matches!(error, EmbedError::Unreachable(_)), "{error}");
    assert!(error.may_retry());
    let shown = format!("{error} {error:?} {remote:?}");
    assert!(!shown.contains(KEY), "{shown}");
}

#[test]
fn the_circuit_breaker_opens_and_probes() {
    let endpoint = Endpoint::start();
    let time = FakeTime::default();
    let remote = remote(endpoint.address, time.environment());
    endpoint.order(std::iter::repeat_n(Act::Fail(500, None), 6));
    for _ in 0..5 {
        let error = remote.deep(&TEXTS, Priority::Search).unwrap_err();
        assert!(matches!(error, EmbedError::Overloaded { .. }), "{error}");
    }
    let circuit_open = remote.deep(&TEXTS, Priority::Background).unwrap_err();
    assert_eq!(circuit_open.retry_after(), Some(Duration::from_secs(2)));
    assert_eq!(endpoint.received().len(), 5, "no request while the circuit is open");

    time.pass(Duration::from_secs(2));
    let error = remote.deep(&TEXTS, Priority::Search).unwrap_err();
    assert!(matches!(error, EmbedError::Overloaded { .. }), "one try, which fails: {error}");
    assert!(matches!(remote.deep(&TEXTS, Priority::Search), Err(EmbedError::CircuitOpen { .. })));

    time.pass(Duration::from_secs(4));
    remote.deep(&TEXTS, Priority::Search).unwrap();
    remote.deep(&TEXTS, Priority::Search).unwrap();
    assert_eq!(endpoint.received().len(), 8);
}
