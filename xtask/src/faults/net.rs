//! A network that can be cut: each broker and each node in a network namespace of its own, all on one bridge, and rules that
//! drop packets from one to another without a word. Needs root; everything goes when it is dropped, and what an earlier run
//! could not clear away goes when the next one begins.

use std::net::Ipv4Addr;
use std::path::Path;
use std::process::{Command, id};

use anyhow::{Context, Result};
use rustix::process::geteuid;

use crate::shell::{output, run, which};

/// Names begin with it, then the process that made them.
const NAME: &str = "pkf";

/// Why there can be no such network here, if there cannot.
pub(super) fn missing() -> Option<String> {
    if !geteuid().is_root() {
        return Some("network namespaces need root: run it as root, in a machine or a container of your own".into());
    }
    for (program, package) in [("ip", "iproute2"), ("nft", "nftables")] {
        if which(program).is_none() {
            return Some(format!("{program} is missing: install the Debian package {package}"));
        }
    }
    let trial = format!("{NAME}{}t", id());
    let made = ip(&["netns", "add", &trial]);
    // Whether it can be removed was answered by whether it could be made.
    let _ = ip(&["netns", "del", &trial]);
    made.err().map(|error| format!("network namespaces cannot be made here: {error:#}"))
}

/// The network; gone when dropped.
pub(super) struct Net {
    bridge: String,
    /// A third of an address, by the process, so that two networks do not meet.
    subnet: u8,
    members: Vec<Member>,
}

/// Somebody on it.
pub(super) struct Member {
    space: String,
    pub(super) address: Ipv4Addr,
}

impl Net {
    /// A network for so many.
    pub(super) fn new(members: usize) -> Result<Self> {
        clear()?;
        let subnet = (id() % 250) as u8;
        let mut net = Self { bridge: format!("{NAME}{}", id()), subnet, members: Vec::new() };
        ip(&["link", "add", &net.bridge, "type", "bridge"])?;
        ip(&["addr", "add", &format!("{}/24", net.host()), "dev", &net.bridge])?;
        ip(&["link", "set", &net.bridge, "up"])?;
        for number in 0..members {
            net.join(number)?;
        }
        Ok(net)
    }

    fn join(&mut self, number: usize) -> Result<()> {
        let (space, cable) = (format!("{NAME}{}m{number}", id()), format!("{NAME}{}v{number}", id()));
        let address = Ipv4Addr::new(10, 213, self.subnet, number as u8 + 1);
        self.members.push(Member { space: space.clone(), address });
        ip(&["netns", "add", &space])?;
        ip(&["link", "add", &cable, "type", "veth", "peer", "name", "eth0", "netns", &space])?;
        ip(&["link", "set", &cable, "master", &self.bridge, "up"])?;
        ip(&["-n", &space, "addr", "add", &format!("{address}/24"), "dev", "eth0"])?;
        for device in ["eth0", "lo"] {
            ip(&["-n", &space, "link", "set", device, "up"])?;
        }
        self.nft(number, "add table inet cut; add chain inet cut in { type filter hook input priority 0; }")
    }

    /// Where this program is on it.
    pub(super) fn host(&self) -> Ipv4Addr {
        Ipv4Addr::new(10, 213, self.subnet, 254)
    }

    pub(super) fn address(&self, member: usize) -> Ipv4Addr {
        self.members[member].address
    }

    /// The words that run a command where a member is.
    pub(super) fn under(&self, member: usize) -> Vec<String> {
        ["ip", "netns", "exec", &self.members[member].space].map(String::from).into()
    }

    /// From now on nothing that `from` sends arrives at `to`.
    pub(super) fn cut(&self, from: usize, to: usize) -> Result<()> {
        self.nft(to, &format!("add rule inet cut in ip saddr {} drop", self.address(from)))
    }

    /// Neither hears the other.
    pub(super) fn part(&self, one: usize, other: usize) -> Result<()> {
        self.cut(one, other)?;
        self.cut(other, one)
    }

    /// Everybody hears everybody.
    pub(super) fn mend(&self) -> Result<()> {
        (0..self.members.len()).try_for_each(|member| self.nft(member, "flush chain inet cut in"))
    }

    fn nft(&self, member: usize, rules: &str) -> Result<()> {
        ip(&["netns", "exec", &self.members[member].space, "nft", rules])
    }
}

impl Drop for Net {
    fn drop(&mut self) {
        for member in &self.members {
            // What cannot go now goes when the next network is made.
            let _ = ip(&["netns", "del", &member.space]);
        }
        let _ = ip(&["link", "del", &self.bridge]);
    }
}

/// Remove what processes left that are gone.
fn clear() -> Result<()> {
    let program = which("ip").context("ip is missing")?;
    let spaces = output(Command::new(&program).args(["netns", "list"]))?;
    for space in spaces.lines().filter_map(|line| line.split_whitespace().next()).filter(|name| is_left(name)) {
        ip(&["netns", "del", space])?;
    }
    let links = output(Command::new(&program).args(["-o", "link", "show", "type", "bridge"]))?;
    for link in links.lines().filter_map(|line| line.split(": ").nth(1)).filter(|name| is_left(name)) {
        ip(&["link", "del", link])?;
    }
    Ok(())
}

/// Whether this is a name of ours whose process is gone.
fn is_left(name: &str) -> bool {
    let Some(rest) = name.strip_prefix(NAME) else { return false };
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    !digits.is_empty() && !Path::new(&format!("/proc/{digits}")).exists()
}

fn ip(words: &[&str]) -> Result<()> {
    run(Command::new(which("ip").context("ip is missing")?).args(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_dead_process_left_is_cleared_away() {
        assert!(is_left("pkf4194999m0"), "no process has this number");
        for name in [format!("pkf{}", id()), format!("pkf{}m1", id()), "pkf".into(), "docker0".into(), "eth0".into()] {
            assert!(!is_left(&name), "{name}");
        }
    }
}
