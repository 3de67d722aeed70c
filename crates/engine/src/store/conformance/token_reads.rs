//! `TokenReads`, and the writes of tokens.

use super::*;

on_every_store! {
    tokens_are_issued_listed_and_revoked,
}

fn tokens_are_issued_listed_and_revoked(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let at = |second| Timestamp::from_second(second).unwrap();
    let mut issue = |of, role, expires_at| {
        write(&mut *store, |transaction| {
            transaction.insert_token(&NewToken {
                shop: shop(of),
                role,
                name: "über",
                secret_hash: &[9; 32],
                created_at: at(1),
                expires_at,
            })
        })
        .0
    };
    let first = issue(1, Role::Editor, Some(at(100)));
    let second = issue(2, Role::Admin, None);
    assert!(second > first);
    let row = readers.token(first).unwrap().unwrap();
    assert_eq!((row.id, row.shop, row.role), (first, shop(1), Role::Editor));
    assert_eq!((row.name.as_str(), row.secret_hash.as_slice()), ("über", &[9; 32][..]));
    assert_eq!((row.created_at, row.expires_at), (at(1), Some(at(100))));
    assert_eq!(row.revoked_at, None);
    assert!(readers.token(u64::MAX).unwrap().is_none());
    assert!(readers.token(second + 1000).unwrap().is_none());
    let listed = |of: Option<u64>| -> Vec<u64> {
        readers.tokens(of.map(shop)).unwrap().iter().map(|row| row.id).collect()
    };
    assert_eq!((listed(None), listed(Some(2))), (vec![first, second], vec![second]));
    let mut revoke =
        |of, id| write(&mut *store, |transaction| transaction.revoke_token(shop(of), id, at(5))).0;
    assert!(!revoke(2, first));
    assert!(revoke(1, first));
    assert!(!revoke(1, first));
    assert!(!revoke(1, u64::MAX));
    subject.wait_for_revocation();
    assert_eq!(readers.token(first).unwrap().unwrap().revoked_at, Some(at(5)));
}
