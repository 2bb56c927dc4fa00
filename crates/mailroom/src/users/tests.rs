//! Lists by example, then what a question costs and tells.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use argon2::{Algorithm, Version};
use tokio::sync::Semaphore;
use tokio::task::{JoinSet, spawn_blocking, yield_now};

use super::*;

/// A hash that is quick to verify, but not as quick as nothing.
fn quick(secret: &str) -> String {
    with_params(secret, 1024, 1)
}

fn with_params(secret: &str, memory: u32, passes: u32) -> String {
    let params = Params::new(memory, passes, 1, None).unwrap();
    let hasher = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    let hash: PasswordHash = hasher.hash_password(secret.as_bytes()).unwrap();
    hash.to_string()
}

#[track_caller]
fn refuses(text: &str, line: usize, words: &str) {
    let bad = Users::parse(text).unwrap_err();
    let first = &bad.mistakes[0];
    assert_eq!((first.line, bad.count), (line, 1), "{text:?}: {bad}");
    assert!(first.what.contains(words), "{text:?}: {bad}");
    assert!(!bad.to_string().contains("hunter2"), "a password is repeated: {bad}");
}

#[test]
fn names_and_passwords_are_read() {
    let text = format!(
        "\u{feff}# who may send\n\nann:hunter2\r\n  # more\nb.o.b@example.com:a:b#c d \nzoë:pässword\nhashed:{}  \n",
        quick("s3cret")
    );
    let users = Users::parse(&text).unwrap();
    assert_eq!((users.len(), users.is_empty(), users.is_costly()), (4, false, true));
    for (name, secret, expected) in [
        ("ann", "hunter2", true),
        ("ann", "hunter", false),
        ("ann", "hunter22", false),
        ("ann", "", false),
        ("Ann", "hunter2", false),
        ("b.o.b@example.com", "a:b#c d ", true),
        ("b.o.b@example.com", "a:b#c d", false),
        ("zoë", "pässword", true),
        ("hashed", "s3cret", true),
        ("hashed", "S3cret", false),
        ("hashed", "", false),
        ("", "", false),
        ("nobody", "hunter2", false),
        ("nobody", "s3cret", false),
        ("ann", "s3cret", false),
        ("# who may send", "", false),
    ] {
        assert_eq!(users.check(name, secret), expected, "{name}: {secret}");
    }
}

#[test]
fn the_password_of_the_nearest_user_is_nobody_elses() {
    for secret in ["right".to_owned(), quick("right")] {
        let users = Users::parse(&format!("ann:{secret}\n")).unwrap();
        assert!(users.check("ann", "right"));
        for name in ["", "bob", "an", "ann ", "zed", "ann\0"] {
            assert!(!users.check(name, "right"), "{name:?}");
        }
    }
}

#[test]
fn mistakes_say_where_and_what_to_do() {
    refuses("ann", 1, "no colon");
    refuses("# x\n\n:hunter2\n", 3, "name is empty");
    refuses("ann:\n", 1, "password is empty");
    refuses(" ann:hunter2", 1, "white space around the name");
    refuses("ann :hunter2", 1, "white space around the name");
    refuses("an\tn:hunter2", 1, "control characters");
    refuses("ann:hunter2\nbob:x\nann:hunter2", 3, "in line 1, too");
    refuses(&format!("{}:hunter2", "a".repeat(256)), 1, "longer than 255");
    refuses(&format!("ann:{}", "a".repeat(1025)), 1, "longer than 1024");
    refuses("ann:hunter2\0", 1, "NUL");
    refuses("ann:$2y$05$hunter2hunter2", 1, "postkeep users hash NAME");
    refuses("ann:{SSHA}hunter2", 1, "postkeep users hash NAME");
    refuses("ann:$argon2i$v=19$m=16,t=2,p=1$MTIzNDU2Nzg$hunter2", 1, "kind that is not taken");
    let largest = "a".repeat(NAME_MAX);
    assert!(
        Users::parse(&format!("{largest}:{}", "b".repeat(SECRET_MAX)))
            .unwrap()
            .check(&largest, &"b".repeat(SECRET_MAX))
    );
}

#[test]
fn damaged_hashes_are_found_when_the_list_is_read() {
    let whole = quick("hunter2");
    let cut = whole.rsplit_once('$').unwrap().0;
    for hash in [
        cut,
        "$argon2id$",
        "$argon2id$v=19$m=16,t=2,p=1$MTIzNDU2Nzg",
        "$argon2id$v=19$m=1,t=0,p=9$MTIzNDU2Nzg$MTIzNDU2Nzg5MDEyMzQ1Ng",
        "$argon2id$v=20$m=16,t=2,p=1$MTIzNDU2Nzg$MTIzNDU2Nzg5MDEyMzQ1Ng",
        "$argon2id$v=19$m=16,t=2,p=1$MTIz$MTIzNDU2Nzg5MDEyMzQ1Ng",
        &format!("{whole}$more"),
        &whole.replace("m=", "x="),
    ] {
        refuses(&format!("ann:{hash}"), 1, "damaged or cut off");
    }
    let bearable = "$argon2id$v=19$m=262144,t=16,p=1$MTIzNDU2Nzg5MDEyMzQ1Ng$MTIzNDU2Nzg5MDEyMzQ1Ng";
    assert!(Users::parse(&format!("ann:{bearable}")).is_ok());
    for more in [bearable.replace("262144", "262145"), bearable.replace("t=16", "t=17")] {
        refuses(&format!("ann:{more}"), 1, "more than 256 MiB or 16 passes");
    }
}

#[test]
fn all_mistakes_are_told_at_once_within_reason() {
    let bad = Users::parse("a\nb:x\nc\n").unwrap_err();
    assert_eq!(bad.mistakes.iter().map(|mistake| mistake.line).collect::<Vec<_>>(), [1, 3]);
    let bad = Users::parse(&"x\n".repeat(100)).unwrap_err();
    assert_eq!((bad.mistakes.len(), bad.count), (MISTAKES_MAX, 100));
    assert!(bad.to_string().ends_with("\nand 80 more"), "{bad}");
}

#[test]
fn a_list_is_bounded() {
    let mut text = "ann:hunter2\n#".to_owned();
    text.push_str(&"x".repeat(FILE_MAX - text.len()));
    assert_eq!(Users::parse(&text).unwrap().len(), 1);
    text.push('x');
    refuses(&text, 0, "larger than 1024 KiB");
}

#[test]
fn an_empty_list_lets_nobody_in() {
    let users = Users::parse("# nobody\n").unwrap();
    assert!(users.is_empty() && !users.is_costly() && !users.check("", "") && !users.check("ann", "x"));
}

#[test]
fn a_hash_of_ours_is_taken_and_never_the_same() {
    let (one, two) = (hash("hunter2").unwrap(), hash("hunter2").unwrap());
    assert!(one.starts_with("$argon2id$v=19$m=19456,t=2,p=1$") && one != two, "{one} {two}");
    let users = Users::parse(&format!("ann:{one}\nbob:{two}\n")).unwrap();
    assert!(users.check("ann", "hunter2") && users.check("bob", "hunter2") && !users.check("ann", &one));
}

#[test]
fn t104_debug_shows_no_secret() {
    let users = Users::parse(&format!("ann:hunter2\nbob:{}\n", quick("s3cret"))).unwrap();
    let shown = format!("{users:?}");
    assert_eq!(shown, "Users { count: 2, hashed: 1, .. }");
}

/// The middle one of many times that a question takes, in nanoseconds. The two are asked in turn, so that a busy machine
/// is busy for both.
fn medians(users: &Users, rounds: usize, questions: [(&str, &str); 2]) -> [u128; 2] {
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..rounds {
        for (times, (name, secret)) in times.iter_mut().zip(questions) {
            let begin = Instant::now();
            assert!(!std::hint::black_box(users.check(name, secret)));
            times.push(begin.elapsed().as_nanos());
        }
    }
    times.map(|mut times| {
        times.sort_unstable();
        times[times.len() / 2]
    })
}

#[test]
fn t102_an_unknown_name_costs_what_a_known_one_does() {
    let mixed = Users::parse(&format!("ann:{}\nbob:hunter2\ncleo:{}\n", quick("x"), quick("y"))).unwrap();
    let plain = Users::parse("ann:hunter2\nbob:hunter3\n").unwrap();
    for (users, rounds, known) in [(&mixed, 100, "ann"), (&mixed, 100, "bob"), (&plain, 2000, "ann")] {
        let [known_time, unknown_time] = medians(users, rounds, [(known, "wrong"), ("nobody", "wrong")]);
        let ratio = known_time as f64 / unknown_time as f64;
        assert!((0.5..2.0).contains(&ratio), "{known}: {known_time} ns, unknown: {unknown_time} ns");
    }
}

#[test]
fn t102_decoys_are_spread_over_the_hashes_of_a_list() {
    // Some users' hashes are cheaper: if each unknown name cost the same, those would be known by their cost.
    let lines: Vec<_> =
        (0..40).map(|user| format!("{user}:{}", with_params("x", if user < 20 { 8 } else { 16 }, 1))).collect();
    let text = lines.join("\n") + "\nplain:x\n";
    let users = Users::parse(&text).unwrap();
    let costs = |name: &str| {
        let name = users.digest(name);
        let hash = users.hash_for(users.nearest(&name).unwrap(), &name).unwrap();
        Params::try_from(hash).unwrap().m_cost()
    };
    let names: Vec<_> = (0..200).map(|number| format!("user{number}")).collect();
    let cheap = names.iter().filter(|name| costs(name) == 8).count();
    assert!((20..180).contains(&cheap), "{cheap} of 200");
    assert!(names.iter().all(|name| costs(name) == costs(name)), "a name always costs the same");
}

/// A pool as the mailroom has one: so many verifications at once, away from the threads that serve.
struct Pool {
    users: Users,
    places: Semaphore,
    running: AtomicUsize,
    running_most: AtomicUsize,
    done: AtomicUsize,
}

impl Pool {
    async fn sign_in(self: Arc<Self>, name: String, secret: &'static str) -> bool {
        let _place = self.places.acquire().await.unwrap();
        let pool = Arc::clone(&self);
        let right = spawn_blocking(move || {
            let running = pool.running.fetch_add(1, Ordering::SeqCst) + 1;
            pool.running_most.fetch_max(running, Ordering::SeqCst);
            let right = pool.users.check(&name, secret);
            pool.running.fetch_sub(1, Ordering::SeqCst);
            right
        });
        let right = right.await.unwrap();
        self.done.fetch_add(1, Ordering::SeqCst);
        right
    }
}

/// On one thread, so that a verification on it would hold up everybody.
#[tokio::test]
async fn t102_a_thousand_logins_at_once_leave_others_served() {
    const LOGINS: usize = 1000;
    let users = Users::parse(&format!("ann:{}\n", quick("right"))).unwrap();
    assert!(users.is_costly());
    let pool = Arc::new(Pool {
        users,
        places: Semaphore::new(2),
        running: AtomicUsize::new(0),
        running_most: AtomicUsize::new(0),
        done: AtomicUsize::new(0),
    });
    let mut logins = JoinSet::new();
    for number in 0..LOGINS {
        let (name, secret) = match number % 3 {
            0 => ("ann".to_owned(), "right"),
            1 => ("ann".to_owned(), "wrong"),
            _ => (format!("user{number}"), "right"),
        };
        logins.spawn(Arc::clone(&pool).sign_in(name, secret));
    }
    // Somebody else's session: it gets turns for as long as logins go on, and many for each.
    let mut turns = 0;
    while pool.done.load(Ordering::SeqCst) < LOGINS {
        yield_now().await;
        turns += 1;
    }
    assert!(turns > 10 * LOGINS, "another session had only {turns} turns");
    let right = logins.join_all().await.into_iter().filter(|right| *right).count();
    assert_eq!(right, LOGINS.div_ceil(3), "each got its own answer");
    assert!(pool.running_most.load(Ordering::SeqCst) <= 2);
}
