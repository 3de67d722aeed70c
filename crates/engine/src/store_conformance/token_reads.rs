//! `TokenReads`, and the writes of tokens.

use super::*;

on_every_store! {
    tokens_are_issued_listed_and_revoked,
    tokens_are_listed_in_pages,
    tokens_that_work_are_counted,
    ended_tokens_are_removed,
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

/// Inserts a token, which expires at this second, and returns its id.
fn issue(transaction: &mut WriteTransaction<'_>, of: u64, expires: Option<i64>) -> u64 {
    let token = NewToken {
        shop: shop(of),
        role: Role::Viewer,
        name: "",
        secret_hash: &[9; 32],
        created_at: at(1),
        expires_at: expires.map(at),
    };
    transaction.insert_token(&token).unwrap()
}

fn tokens_are_listed_in_pages(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let ids = write(&mut *store, |transaction| {
        Ok((0..2500).map(|n| issue(transaction, 1 + n % 5 / 4, None)).collect::<Vec<_>>())
    })
    .0;
    // More than are read at a time.
    assert_eq!(token_ids(&*readers, None), ids);
    let (mine, theirs) = (token_ids(&*readers, Some(1)), token_ids(&*readers, Some(2)));
    assert_eq!((mine.len(), theirs.len()), (2000, 500));
    let page = |limit, offset| {
        let page = readers.token_page(shop(1), limit, offset).unwrap();
        assert_eq!(page.total, 2000);
        page.tokens.iter().map(|row| row.id).collect::<Vec<_>>()
    };
    assert_eq!(page(3, 0), mine[..3]);
    assert_eq!(page(100, 1950), mine[1950..]);
    assert_eq!(page(1, usize::MAX), Vec::<u64>::new());
    assert_eq!(readers.token_page(shop(3), 1, 0).unwrap().total, 0);
    let batch = readers.token_batch(Some(shop(2)), theirs[2], 2).unwrap();
    assert_eq!(batch.last, Some(theirs[4]));
    let batch = readers.token_batch(Some(shop(2)), theirs[497], 3).unwrap();
    assert_eq!((batch.tokens.len(), batch.last), (2, None));
}

fn tokens_that_work_are_counted(subject: &impl Subject) {
    let mut store = subject.store();
    write(&mut *store, |transaction| {
        let ids: Vec<_> = [None, None, Some(10), Some(20), Some(30)]
            .map(|expires| issue(transaction, 1, expires))
            .into();
        issue(transaction, 2, None);
        assert!(transaction.revoke_token(shop(1), ids[1], at(5))?);
        assert!(transaction.revoke_token(shop(1), ids[3], at(5))?);
        let mut working = |second, limit| transaction.working_tokens(shop(1), at(second), limit);
        assert_eq!([working(6, 9)?, working(9, 9)?, working(10, 9)?], [3, 3, 2]);
        assert_eq!([working(29, 9)?, working(30, 9)?, working(6, 2)?], [2, 1, 2]);
        assert_eq!(transaction.working_tokens(shop(3), at(1), 9)?, 0);
        Ok(())
    });
}

fn ended_tokens_are_removed(subject: &impl Subject) {
    let (mut store, readers) = (subject.store(), subject.readers());
    let ids = write(&mut *store, |transaction| {
        let ids: Vec<_> = (0..12).map(|n| issue(transaction, 1 + n % 2, Some(10))).collect();
        let later: Vec<_> =
            [None, Some(30), Some(31), None].map(|end| issue(transaction, 1, end)).into();
        assert!(transaction.revoke_token(shop(1), later[3], at(29))?);
        assert!(transaction.revoke_token(shop(2), ids[11], at(9))?);
        Ok([ids, later].concat())
    })
    .0;
    clean(&mut *subject.cleanup(), at(10), 1);
    assert_eq!(token_ids(&*readers, None), [&ids[..11], &ids[12..]].concat());
    clean(&mut *subject.cleanup(), at(11), 1);
    assert_eq!(token_ids(&*readers, None), ids[12..]);
    write(&mut *store, |transaction| {
        assert!(!transaction.revoke_token(shop(1), ids[0], at(40))?);
        transaction.remove_ended_tokens(shop(1), at(40), 3)?;
        transaction.remove_ended_tokens(shop(2), at(40), 0)
    });
    assert_eq!(token_ids(&*readers, None), ids[12..]);
    write(&mut *store, |transaction| transaction.remove_ended_tokens(shop(1), at(40), 1));
    assert_eq!(token_ids(&*readers, None), [ids[12], ids[14]]);
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
    let listed = |of: Option<u64>| token_ids(&*readers, of);
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
