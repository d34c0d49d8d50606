"""Looking at a repository."""

from perdure.core.policy import Layer, Terms


def test_status_tells_what_is_staged_and_what_is_not(shop):
    shop.write("src/a.py", "a = 3\n")
    shop.git("add", "src/a.py")
    shop.write("src/a.py", "a = 4\n")
    (shop.root / "src/b.py").unlink()
    shop.git("mv", "README.md", "READ ME.md")
    shop.write("new.txt", "x")
    shop.write("x.log", "x")
    status = shop.do("git.status", ignored=True)
    assert (status["branch"], status["commit"], status["clean"]) == ("main", shop.git("rev-parse", "HEAD"), False)
    assert {each["path"]: each["state"] for each in status["files"]} == {
        "READ ME.md": "renamed", "src/a.py": "modified", "src/b.py": "deleted", "new.txt": "untracked", "x.log": "ignored",
    }  # fmt: skip
    assert next(each for each in status["files"] if each["state"] == "renamed")["from"] == "README.md"
    both = next(each for each in status["files"] if each["path"] == "src/a.py")
    assert (both["staged"], both["unstaged"]) == (True, True)


def test_looking_changes_nothing(shop):
    shop.write("src/a.py", "a = 3\n")
    before = {path: path.stat().st_mtime_ns for path in (shop.root / ".git").rglob("*")}
    for name, arguments in (("git.status", {}), ("git.diff", {}), ("git.log", {}), ("git.show", {})):
        shop.do(name, **arguments)
    assert {path: path.stat().st_mtime_ns for path in (shop.root / ".git").rglob("*")} == before


def test_diff_between_commits_and_to_the_files(shop):
    assert "+a = 2" in shop.do("git.diff", old="v1", new="main")["text"]
    assert shop.do("git.diff", old="v1", new="main", paths=["README.md"])["files"] == []
    shop.write("src/b.py", "b = 3\n")
    found = shop.do("git.diff")
    assert (found["files"], found["cut"]) == ([{"path": "src/b.py", "change": "modified"}], False)
    assert found["text"].startswith("diff --git a/src/b.py b/src/b.py\n")


def test_what_may_not_be_read_is_left_out_and_named(shop):
    shop.write("src/a.py", "a = 'secret'\n")
    shop.write("src/b.py", "b = 3\n")
    layers = (Layer("user", files_read=Terms(deny=("src/a.py",))),)
    found = shop.outcome("git.diff", layers=layers).output
    assert (found["hidden"], [each["path"] for each in found["files"]]) == (["src/a.py"], ["src/b.py"])
    assert "secret" not in found["text"]
    assert shop.outcome("git.show", commit="main", layers=layers).output["text"] == ""


def test_a_long_difference_is_cut(shop):
    shop.write("src/a.py", "x" * 79 + "\n" + "y = 1\n" * 200_000)
    found = shop.do("git.diff")
    assert found["cut"]
    assert len(found["text"]) == 500_000


def test_log_and_show(shop):
    body = "Odd \x01 \x02 ü\n\nSecond paragraph.\n\nThird."
    shop.git("commit", "-q", "--allow-empty", "-m", body)
    log = shop.do("git.log", count=2)
    assert [each["subject"] for each in log] == ["Odd \x01 \x02 ü", "Change a"]
    assert log[0]["body"] == "Second paragraph.\n\nThird."
    assert log[0]["author"] == "Ada <ada@example.com>"
    assert [each["subject"] for each in shop.do("git.log", until="v1")] == ["Odd \x01 \x02 ü", "Change a"]
    assert [each["subject"] for each in shop.do("git.log", paths=["src/b.py"])] == ["Begin"]
    shown = shop.do("git.show", commit="v1")
    assert shown["parents"] == []
    assert {each["change"] for each in shown["files"]} == {"added"}


def test_where_secrets_are_kept_is_left_out_unless_the_policy_names_it(shop):
    shop.write(".env", "TOKEN=canary\n")
    shop.write("src/b.py", "b = 3\n")
    shop.git("add", ".")
    shop.git("commit", "-qm", "Add settings")
    for name, more in (("git.show", {}), ("git.diff", {"old": "HEAD~1", "new": "HEAD"})):
        found = shop.do(name, **more)
        assert (found["hidden"], "canary" in str(found)) == ([".env"], False)
        layers = (Layer("user", files_read=Terms(allow=("**", ".env"))),)
        assert "canary" in shop.outcome(name, layers=layers, **more).output["text"]
