//! Scripts that mean harm: each is stopped within its deadline, and the mail of others goes on meanwhile.

use std::time::Instant;

use super::*;
use crate::trial;

const DEADLINE: Duration = Duration::from_millis(250);
/// What a script may use of a CPU beyond its deadline.
const BEYOND: Duration = Duration::from_millis(100);

/// Each acts on mail to `evil` only.
pub(super) const HOSTILE: &[(&str, &str)] = &[
    ("endless loop", "while true do end"),
    ("loop under pcall", "while true do pcall(function() while true do end end) end"),
    ("pcall in pcall", "local function f() pcall(f) pcall(f) pcall(f) end f() while true do f() end"),
    (
        "loop under xpcall",
        "while true do xpcall(function() while true do end end, function() while true do end end) end",
    ),
    ("loop in an error's words", "error(setmetatable({}, { __tostring = function() while true do end end }))"),
    ("tostring without end", "tostring(setmetatable({}, { __tostring = function() while true do end end }))"),
    ("endless recursion", "local function f() return 1 + f() end f()"),
    ("endless tail calls", "local function f() return f() end return f()"),
    ("recursion through pcall", "local function f() return pcall(f) end while true do f() end"),
    ("loop in a coroutine", "coroutine.wrap(function() while true do end end)()"),
    (
        "coroutines without end",
        "while true do coroutine.resume(coroutine.create(function() while true do end end)) end",
    ),
    ("yield out of the handler", "coroutine.yield(1)"),
    ("pattern that goes back", "return (('a'):rep(100)):find(('a-'):rep(5) .. 'b')"),
    ("pattern that goes back far", "return (('a'):rep(30)):match(('a*'):rep(30) .. 'b')"),
    ("patterns under pcall", "while true do pcall(string.find, ('a'):rep(200), ('a-'):rep(8) .. 'b') end"),
    (
        "text in text",
        "local t = ('a'):rep(4000000) local _ = t:find(('a'):rep(2000000) .. 'b', 1, true) error('it ended')",
    ),
    (
        "text split by text",
        "local t = ('a'):rep(4000000) local _ = t:split(('a'):rep(2000000) .. 'b') error('it ended')",
    ),
    ("large text", "return ('x'):rep(1000000000)"),
    ("text that doubles", "local t = 'x' while true do t = t .. t end"),
    ("texts under pcall", "while true do pcall(function() local t = 'x' while true do t = t .. t end end) end"),
    ("table without end", "local t = {} while true do t[#t + 1] = {} end"),
    ("tables under pcall", "while true do pcall(function() local t = {} while true do t[#t + 1] = t end end) end"),
    ("large table", "return table.create(1000000000, 'x')"),
    ("large buffer", "return buffer.create(1000000000)"),
    ("many buffers", "local t = {} while true do t[#t + 1] = buffer.create(100000) end"),
    (
        "sort without end",
        "local t = table.create(500000, 0) for i = 1, #t do t[i] = i * 7919 % 500009 end while true do table.sort(t) table.sort(t, function(a, b) return a > b end) end",
    ),
    (
        "sort with a liar",
        "local t = table.create(100000, 0) while true do pcall(table.sort, t, function() return true end) end",
    ),
    ("move without end", "return table.move({}, 1, 2000000000, 2)"),
    (
        "concat of much",
        "local t = table.create(300000, 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx') while true do pcall(table.concat, t) end",
    ),
    ("format of much", "while true do string.format('%s%s', ('x'):rep(1000000), ('y'):rep(1000000)) end"),
    ("gsub of much", "while true do (('x'):rep(1000000)):gsub('.', '%0%0') end"),
    ("unpack of much", "while true do pcall(function() return select('#', table.unpack({}, 1, 900000)) end) end"),
    ("poisoned texts", "getmetatable('').__index = function() while true do end end"),
    ("poisoned text functions", "string.rep = nil"),
    ("poisoned globals", "getmetatable(_G).__index = {}"),
    ("poisoned house", "getmetatable(postkeep).__index = {}"),
    ("poisoned module", "require('json').encode = nil"),
    ("poisoned smtp", "smtp.deny = smtp.allow"),
    ("bytecode by load", "load('\\27Lua')()"),
    ("bytecode by loadstring", "loadstring('\\6\\3\\1')()"),
    ("code by loadstring", "loadstring('while true do end')()"),
    ("dumped function", "string.dump(function() end)"),
    ("files", "io.open('/etc/passwd')"),
    ("commands", "os.execute('sleep 10')"),
    ("the end of the program", "os.exit(0)"),
    ("the environment", "os.getenv('PATH')"),
    ("modules of the system", "require('/etc/passwd')"),
    ("modules beside it", "require('./test')"),
    ("code of a file", "dofile('/etc/passwd')"),
    ("packages", "package.loadlib('x', 'y')"),
    ("environment of another", "getfenv(0).x = 1"),
    ("environment of itself", "setfenv(1, {})"),
    ("debug library", "debug.getregistry()"),
    ("garbage collector", "collectgarbage('stop')"),
    ("a code that is none", "return postkeep.refuse(250, 'ok')"),
    ("JSON in itself", "local t = {} t.t = t while true do require('json').encode(t) end"),
    ("deep JSON", "local d = require('json').decode while true do d(('['):rep(100000)) end"),
    ("mailboxes without end", "local t = {} for i = 1, 100000 do t[i] = 'a' .. i end message.mailboxes = t"),
    ("tags without end", "for i = 1, 100000 do message:tag('t' .. i) end"),
    ("fields without end", "while true do message:headers() message:source() message:body() end"),
    ("log without end", "local l = require('logger') while true do l.debug('x', {}) end"),
];

fn script(body: &str) -> String {
    let text = "function postkeep.before.message(message)
        if message.mailboxes[1] ~= 'evil' then message:tag('fine') return end
        BODY
        end";
    text.replace("BODY", body)
}

/// T094: within the deadline, in a bounded memory, and others' mail is taken while it lasts.
#[tokio::test(flavor = "multi_thread")]
async fn t094_hostile_scripts_are_stopped_and_others_go_on() {
    for (name, body) in HOSTILE {
        let settings = Settings { deadline: DEADLINE, ..Settings::default() };
        let scripts = with(&script(body), settings);
        let before = message(&scripts, &["alice@x.test"], HELLO).await;
        assert_eq!(before.tags, ["fine"], "{name}");
        let began = Instant::now();
        let evil = message(&scripts, &["evil@x.test"], HELLO);
        let others = async {
            for _ in 0..3 {
                let began = Instant::now();
                assert_eq!(message(&scripts, &["alice@x.test"], HELLO).await.tags, ["fine"], "beside {name}");
                assert!(began.elapsed() < DEADLINE, "{name}: another waited {:?}", began.elapsed());
            }
        };
        let (evil, ()) = tokio::join!(evil, others);
        // Whoever asked has its answer; what still ran then counts as well.
        let (took, used) = (began.elapsed(), scripts.spent().await);
        assert_eq!(decided(&evil.verdict.decision), TEMPFAIL, "{name}");
        assert!(used < DEADLINE + BEYOND, "{name}: used {used:?} of a CPU, and took {took:?}");
        let after = message(&scripts, &["alice@x.test"], HELLO).await;
        assert_eq!(after.tags, ["fine"], "after {name}");
    }
}

/// T094: every hook of a loop under pcall counts as failed, twenty times.
#[tokio::test(flavor = "multi_thread")]
async fn t094_a_swallowed_deadline_is_a_failure() {
    let settings = Settings { deadline: Duration::from_millis(20), ..Settings::default() };
    let text = "function postkeep.before.message()
            pcall(function() while true do end end)
            return postkeep.accept()
        end";
    let scripts = with(text, settings);
    for _ in 0..20 {
        let handling = message(&scripts, &["alice@x.test"], HELLO).await;
        assert_eq!(decided(&handling.verdict.decision), TEMPFAIL);
    }
}

/// T095: a pattern that goes back and back is stopped as any loop is.
#[tokio::test(flavor = "multi_thread")]
async fn t095_a_pattern_is_stopped() {
    let settings = Settings { deadline: Duration::from_millis(100), ..Settings::default() };
    for pattern in ["('a-'):rep(5) .. 'b'", "('a*'):rep(20) .. 'b'", "('.-'):rep(10) .. 'x$'"] {
        let scripts = with(&script(&format!("return (('a'):rep(100)):find({pattern})")), settings.clone());
        let handling = message(&scripts, &["evil@x.test"], HELLO).await;
        assert_eq!(decided(&handling.verdict.decision), TEMPFAIL, "{pattern}");
        let used = scripts.spent().await;
        assert!(used < Duration::from_millis(200), "{pattern}: {used:?}");
    }
}

/// As many loops as there are threads but one: the rest of the mail goes on.
#[tokio::test(flavor = "multi_thread")]
async fn t094_many_at_once_hold_up_nobody() {
    let settings = Settings { deadline: Duration::from_millis(500), workers: 6, ..Settings::default() };
    let scripts = with(&script("while true do end"), settings);
    let loops: Vec<_> = (0..5)
        .map(|_| {
            let scripts = Arc::clone(&scripts);
            tokio::spawn(async move { message(&scripts, &["evil@x.test"], HELLO).await })
        })
        .collect();
    for _ in 0..20 {
        assert_eq!(message(&scripts, &["alice@x.test"], HELLO).await.tags, ["fine"]);
    }
    for evil in loops {
        assert_eq!(decided(&evil.await.unwrap().verdict.decision), TEMPFAIL);
    }
}

/// T092: what a script finds, name by name. A change here is a decision.
#[test]
fn t092_the_globals_are_these() {
    let list = "function postkeep.before.mail_from()
            local names = {}
            local function add(prefix, t)
                for name, value in t do
                    if type(value) == 'table' and name ~= '_G' then add(prefix .. name .. '.', value)
                    else table.insert(names, prefix .. name) end
                end
            end
            add('', getmetatable(_G).__index)
            add('postkeep.', getmetatable(postkeep).__index)
            for _, name in { 'http', 'json', 'logger' } do add(name .. '.', require(name)) end
            table.sort(names)
            print(table.concat(names, '\\n'))
        end";
    let settings = Settings::default();
    let program = Program::of(&[("list.lua", list)], &settings).unwrap();
    let mail = trial::Mail {
        raw: Bytes::new(),
        sender: sender("a@x.test"),
        recipients: Vec::new(),
        peer: None,
        helo: String::new(),
    };
    let reports = trial::run(program, &settings, trial::Network::Shown, &mail);
    let found = format!("{}\n", reports[0].lines[0].text);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/src/tests/globals.txt"), &found).unwrap();
    }
    assert_eq!(found, include_str!("globals.txt"));
}

/// T096: the memory of a worker is bounded, whatever is swallowed.
#[tokio::test(flavor = "multi_thread")]
async fn t096_memory_is_bounded() {
    let text = "function postkeep.before.message(message)
            local kept = {}
            while pcall(function() kept[#kept + 1] = ('x'):rep(100000 + #kept) end) do end
            message:tag(tostring(#kept))
        end";
    let settings = Settings { memory_max: 8 << 20, ..Settings::default() };
    let handling = message(&with(text, settings), &["alice@x.test"], HELLO).await;
    let kept: usize = handling.tags[0].parse().unwrap();
    assert!((40..84).contains(&kept), "{kept} texts of 100 kB in 8 MiB");
}

/// What one event has used is there again for the next.
#[tokio::test(flavor = "multi_thread")]
async fn waste_of_one_event_is_no_want_of_another() {
    let text = "function postkeep.before.message(message)
            local kept = {}
            for i = 1, 50 do kept[i] = ('x'):rep(100000 + i) end
            message:tag('fine')
        end";
    let scripts = with(text, Settings { memory_max: 8 << 20, workers: 1, ..Settings::default() });
    for _ in 0..20 {
        assert_eq!(message(&scripts, &["alice@x.test"], HELLO).await.tags, ["fine"]);
    }
}

/// T097: what one event breaks is whole for the next.
#[tokio::test(flavor = "multi_thread")]
async fn t097_poison_does_not_outlive_its_event() {
    let text = "function postkeep.before.message(message)
            if message.mailboxes[1] == 'evil' then
                for _, poison in {
                    function() string.upper = nil end, function() getmetatable('').__index = nil end,
                    function() _G.tostring = nil end, function() rawset(_G, 'type', nil) end,
                    function() setmetatable(string, {}) end, function() rawset(getmetatable(_G), '__index', {}) end,
                    function() table.clear(string) end, function() require('json').encode = nil end,
                    function() table.clear(getmetatable(_G).__index) end, function() rawset(string, 'x', 1) end,
                    function() getmetatable(message).__index = nil end, function() postkeep.refuse = nil end,
                } do pcall(poison) end
                return
            end
            assert(('x'):upper() == 'X' and tostring(1) == '1' and type(1) == 'number' and string.x == nil)
            assert(require('json').encode({ 1 }) == '[1]' and postkeep.refuse and message.subject == 'Hello')
            message:tag('clean')
        end";
    let scripts = with(text, Settings { workers: 1, ..Settings::default() });
    for _ in 0..3 {
        assert_eq!(decided(&message(&scripts, &["evil@x.test"], HELLO).await.verdict.decision), "accept");
        assert_eq!(message(&scripts, &["alice@x.test"], HELLO).await.tags, ["clean"]);
    }
}

/// What is told afterwards may be slow, and takes nothing from what is asked before.
#[tokio::test(flavor = "multi_thread")]
async fn slow_afters_hold_up_no_mail() {
    let settings = Settings { after_deadline: Duration::from_secs(1), queue_max: 8, workers: 4, ..Settings::default() };
    let text = "function postkeep.after.message() while true do end end
        function postkeep.before.message(message) message:tag('fine') end";
    let scripts = with(text, settings);
    let mailbox = Naming::Local.named("alice").unwrap();
    for _ in 0..100 {
        scripts.after(After::Delivered(mailbox.clone(), summary("One")));
    }
    for _ in 0..20 {
        let began = Instant::now();
        assert_eq!(message(&scripts, &["alice@x.test"], HELLO).await.tags, ["fine"]);
        assert!(began.elapsed() < Duration::from_millis(500), "{:?}", began.elapsed());
    }
}

/// A queue that is full is a failure at once, not a wait.
#[tokio::test(flavor = "multi_thread")]
async fn a_full_queue_is_told_at_once() {
    let settings = Settings { deadline: Duration::from_secs(5), queue_max: 1, workers: 1, ..Settings::default() };
    let scripts = with(&script("while true do end"), settings);
    let evil = || {
        let scripts = Arc::clone(&scripts);
        tokio::spawn(async move { message(&scripts, &["evil@x.test"], HELLO).await })
    };
    let ask = || tokio::time::timeout(Duration::from_millis(200), message(&scripts, &["alice@x.test"], HELLO));
    // Until the only worker is taken, and somebody waits for it.
    let mut taken = evil();
    while ask().await.is_ok() {
        if taken.is_finished() {
            taken = evil();
        }
    }
    let handling = ask().await.expect("it is told at once");
    assert_eq!(decided(&handling.verdict.decision), TEMPFAIL);
    taken.abort();
}
