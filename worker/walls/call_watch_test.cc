// Programs that look into a folder whose files come only when they are needed.
#include "worker/walls/call_watch.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "worker/cookers/command/run_program.h"
#include "worker/walls/can_watch_calls.h"

namespace galley::worker {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Files by their paths below the folder. A file holds zeros until it is filled.
class TextFolder final : public ReadyFolder {
 public:
  TextFolder(std::string root, std::map<std::string, std::string> files)
      : root_(std::move(root)), files_(std::move(files)) {}

  const std::string& root() const override { return root_; }
  absl::Status FillFolder(const std::string& path) override {
    if (!filled.insert(path.substr(root_.size())).second) return absl::OkStatus();
    if (!std::filesystem::is_directory(path)) return absl::OkStatus();
    const std::string prefix = path.substr(root_.size()) + "/";
    for (const auto& [name, text] : files_) {
      if (!name.starts_with(prefix)) continue;
      const std::string host = root_ + name;
      const size_t slash = name.find('/', prefix.size());
      if (slash != std::string::npos) {
        RETURN_IF_ERROR(CreateDirectories(root_ + name.substr(0, slash)));
      } else {
        RETURN_IF_ERROR(WriteFileAtomic(host, std::string(text.size(), '\0')));
      }
    }
    return absl::OkStatus();
  }
  absl::Status FillFile(const std::string& path) override {
    const std::string name = path.substr(root_.size());
    if (name == broken) return absl::UnavailableError("the director is away");
    const auto found = files_.find(name);
    if (found == files_.end() || !opened.insert(name).second) return absl::OkStatus();
    const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
    RETURN_IF_ERROR(WriteAll(file.get(), found->second, path));
    return ::chmod(path.c_str(), found->second.starts_with("#!") ? 0755 : 0644) == 0
               ? absl::OkStatus()
               : absl::InternalError("chmod");
  }

  std::string PathOf(uint64_t device, uint64_t inode) const override {
    for (const auto& [name, text] : files_) {
      struct stat info {};
      if (::stat((root_ + name).c_str(), &info) == 0 && info.st_dev == device &&
          info.st_ino == inode)
        return root_ + name;
    }
    return "";
  }

  std::set<std::string> filled, opened;
  std::string broken;

 private:
  const std::string root_;
  const std::map<std::string, std::string> files_;
};

class CallWatchTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const absl::Status can = CanWatchCalls(); !can.ok()) GTEST_SKIP() << can;
    dir_ = std::filesystem::canonical(*MakeTemporaryDirectory(testing::TempDir(), "watch-"));
    ASSERT_TRUE(CreateDirectories(dir_ + "/view").ok());
    ASSERT_TRUE(CreateDirectories(dir_ + "/work").ok());
    ASSERT_TRUE(CreateDirectories(dir_ + "/tools").ok());
    ASSERT_TRUE(CreateDirectories(dir_ + "/else").ok());
    ASSERT_TRUE(WriteFileAtomic(dir_ + "/tools/tool", "of the tool\n").ok());
    ASSERT_TRUE(WriteFileAtomic(dir_ + "/else/there", "there\n").ok());
    folder_ = std::make_unique<TextFolder>(
        dir_ + "/view",
        std::map<std::string, std::string>{{"/Game/a.txt", "of a\n"},
                                           {"/Game/b.txt", "of b\n"},
                                           {"/Game/deep/er/c.txt", "of c\n"},
                                           {"/Game/run", "#!/bin/sh\necho ran $1\n"},
                                           {"/Game/by", "#!Game/run\n"}});
    ASSERT_TRUE(folder_->FillFolder(dir_ + "/view").ok());
    ASSERT_EQ(::symlink((dir_ + "/view/Game").c_str(), (dir_ + "/work/Game").c_str()), 0);
  }
  ~CallWatchTest() override {
    if (!dir_.empty()) RemoveAll(dir_).IgnoreError();
  }

  // Runs the program under a watch, and returns its output.
  std::string Run(std::vector<std::string> argv) {
    CallWatch watch({.folder = folder_.get(), .own = dir_ + "/work", .tools = dir_ + "/tools"});
    auto run =
        RunProgram({.argv = std::move(argv),
                    .environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "V=" + dir_ + "/view",
                                    "E=" + dir_ + "/else", "T=" + dir_ + "/tools"},
                    .working_directory = dir_ + "/work",
                    .watch = &watch},
                   [] { return absl::Minutes(1); });
    trouble_ = watch.trouble();
    looks_ = watch.looks();
    if (!run.ok()) return run.status().ToString();
    status_ = run->status;
    return run->output;
  }
  std::string Shell(const std::string& script) { return Run({"/bin/sh", "-c", script}); }
  std::string Python(const std::string& script) { return Run({"/usr/bin/python3", "-uc", script}); }

  std::string dir_;
  std::unique_ptr<TextFolder> folder_;
  // The program's find at a path in `else` or elsewhere; nullopt: no find was noted.
  std::optional<Looks::Found> FoundAt(const std::string& path) const {
    const auto found = looks_.found.find(path);
    if (found == looks_.found.end()) return std::nullopt;
    return found->second;
  }
  void ExpectRefusal(const std::string& what) {
    EXPECT_TRUE(absl::IsFailedPrecondition(trouble_)) << what << ": " << trouble_;
    EXPECT_THAT(MessageOf(trouble_), HasSubstr("on a machine without the project")) << what;
  }

  absl::Status trouble_;
  ExitStatus status_;
  Looks looks_;
};

TEST_F(CallWatchTest, AFileHasItsBytesWhenItIsOpenedAndNotBefore) {
  EXPECT_EQ(Shell("ls Game; cat Game/a.txt"), "a.txt\nb.txt\nby\ndeep\nrun\nof a\n");
  EXPECT_THAT(folder_->opened, testing::ElementsAre("/Game/a.txt"));
  EXPECT_THAT(folder_->filled, Not(Contains("/Game/deep/er")));
  EXPECT_TRUE(trouble_.ok()) << trouble_;
}

TEST_F(CallWatchTest, AListingIsWholeAndSizesAreRight) {
  EXPECT_EQ(Shell("find Game/ -type f -size -2 -printf '%P %s\\n' | sort"),
            "a.txt 5\nb.txt 5\nby 11\ndeep/er/c.txt 5\nrun 22\n");
  EXPECT_EQ(Shell("echo Game/*/*/*.txt"), "Game/deep/er/c.txt\n");
  EXPECT_THAT(folder_->opened, IsEmpty());
}

TEST_F(CallWatchTest, WhatIsNotThereIsNotThere) {
  EXPECT_THAT(Shell("cat Game/no.txt Game/no/no.txt; test -e Game/deep/er/c.txt && echo there"),
              testing::AllOf(HasSubstr("Game/no.txt: No such file"),
                             HasSubstr("Game/no/no.txt: No such file"), HasSubstr("there\n")));
}

TEST_F(CallWatchTest, PathsLeadThroughLinksWorkingDirectoriesAndDots) {
  EXPECT_EQ(Shell("ln -s Game/deep l && ln -s ../view/Game/a.txt m && cat l/er/../../a.txt m && "
                  "cd Game/deep/er && cat c.txt ../../b.txt $V/../view/Game/a.txt && "
                  "cat /proc/self/cwd/c.txt && exec 3< . && cat /proc/self/fd/3/c.txt"),
            "of a\nof a\nof c\nof b\nof a\nof c\nof c\n");
  // Links of the kernel's own kind that do not lead into our folder.
  EXPECT_EQ(Shell("echo piped | cat /dev/stdin /proc/self/fd/0"), "piped\n");
}

TEST_F(CallWatchTest, WhereTheFolderReallyIsNobodyIsTold) {
  for (const char* script :
       {"realpath Game/deep/er/c.txt", "readlink Game", "cd Game/deep && exec env pwd -P",
        "exec 3< Game/a.txt; readlink /proc/self/fd/3", "cd Game; readlink /proc/self/cwd",
        "readlink $T/link"}) {
    ::symlink((dir_ + "/view/Game/a.txt").c_str(), (dir_ + "/tools/link").c_str());
    Shell(std::string(script) + "; sleep 1000");
    ExpectRefusal(script);
  }
  EXPECT_EQ(Shell("pwd -P; readlink -f $E/there"), dir_ + "/work\n" + dir_ + "/else/there\n");
  EXPECT_TRUE(trouble_.ok()) << trouble_;
}

TEST_F(CallWatchTest, WhatIsFoundElsewhereIsNoted) {
  ASSERT_EQ(::symlink("there", (dir_ + "/else/link").c_str()), 0);
  EXPECT_EQ(Shell("cat $E/link; test -e $E/none/file; ls $E > /dev/null; test -d $E; "
                  "cat $T/tool; test -e $T/none; test -e Game/none; ls Game > /dev/null"),
            "there\nof the tool\n");
  using Found = Looks::Found;
  EXPECT_EQ(FoundAt(dir_ + "/else/there"), Found::kFile);
  EXPECT_EQ(FoundAt(dir_ + "/else/link"), Found::kFile);
  EXPECT_EQ(FoundAt(dir_ + "/else/none"), Found::kAbsent) << "the first that is not there";
  EXPECT_EQ(FoundAt(dir_ + "/else"), Found::kFolder);
  EXPECT_EQ(FoundAt(dir_ + "/tools/tool"), Found::kFile);
  EXPECT_EQ(FoundAt(dir_ + "/tools/none"), Found::kAbsent);
  EXPECT_EQ(FoundAt(dir_ + "/view/Game/none"), Found::kAbsent);
  EXPECT_EQ(FoundAt(dir_ + "/view/Game"), Found::kFolder);
  for (const char* opened : {"/else/there", "/else", "/tools/tool", "/view/Game"})
    EXPECT_THAT(looks_.opened, Contains(dir_ + opened));
  EXPECT_THAT(looks_.opened, Not(Contains(dir_ + "/else/none")));
  const std::string cat = std::filesystem::canonical("/bin/cat");
  EXPECT_THAT(looks_.opened, Contains(cat)) << "what it runs, too";
}

TEST_F(CallWatchTest, WhatIsItsOwnIsNotNoted) {
  EXPECT_EQ(
      Shell("d=$(mktemp -d) && echo x > $d/y && mkdir $d/z && mv $d/y $d/z && cat $d/z/y && "
            "ls $d && rm -r $d && test ! -e $d && echo z > mine && cat mine && cat Game/a.txt "
            "/proc/self/comm"),
      "x\nz\nz\nof a\ncat\n");
  for (const auto& [path, found] : looks_.found) {
    EXPECT_THAT(path, Not(HasSubstr("/tmp."))) << "mktemp's";
    EXPECT_FALSE(path.starts_with(dir_)) << path;
    EXPECT_FALSE(path.starts_with("/proc")) << path;
  }
}

TEST_F(CallWatchTest, WhatItCouldNotMakeIsNotItsOwn) {
  ASSERT_EQ(::chmod((dir_ + "/else").c_str(), 0555), 0);
  EXPECT_EQ(Python("import os, resource\n"
                   "e = os.environ['E']\n"
                   "if os.getuid() == 0: os.setuid(65534)\n"
                   "def fails(call):\n"
                   "  try: call()\n"
                   "  except OSError: return True\n"
                   "made = '/tmp/galley-watch-%d' % os.getpid()\n"
                   "os.mkdir(made)\n"
                   "print(fails(lambda: os.mkdir(e + '/folder')),\n"
                   "      fails(lambda: open(e + '/new', 'w')),\n"
                   "      fails(lambda: open(e + '/none/new', 'w')),\n"
                   "      os.path.exists(e + '/new'), os.path.exists(made))\n"
                   "os.rmdir(made)\n"
                   "fails(lambda: os.mkdir(e + '/last'))\n"),
            "True True True False True\n");
  EXPECT_TRUE(trouble_.ok()) << trouble_;
  for (const char* name : {"/else/folder", "/else/new", "/else/none", "/else/last"})
    EXPECT_EQ(FoundAt(dir_ + name), Looks::Found::kAbsent) << name;
  for (const auto& [path, found] : looks_.found) EXPECT_THAT(path, Not(HasSubstr("galley-watch-")));
}

TEST_F(CallWatchTest, WhatWasReachedByAnotherWayIsStillOurs) {
  // A hard link stands for a bind mount.
  ASSERT_TRUE(folder_->FillFolder(dir_ + "/view/Game").ok());
  ASSERT_EQ(::link((dir_ + "/view/Game/a.txt").c_str(), (dir_ + "/else/alias").c_str()), 0);
  EXPECT_THAT(Shell("cat $E/alias; echo more >> $E/alias"),
              testing::AllOf(HasSubstr("of a\n"), HasSubstr("Read-only file system")));
  EXPECT_THAT(folder_->opened, testing::ElementsAre("/Game/a.txt"));
}

TEST_F(CallWatchTest, ToolsCannotBeChanged) {
  EXPECT_THAT(
      Shell("(echo more >> $T/tool); chmod 600 $T/tool; (: > $T/new); rm $T/tool; cat $T/tool"),
      testing::AllOf(HasSubstr("of the tool\n"), Not(HasSubstr("more")),
                     HasSubstr("Read-only file system")));
  EXPECT_FALSE(FileExists(dir_ + "/tools/new"));
}

TEST_F(CallWatchTest, DescriptorsAndLinksDoNotLeadAroundIt) {
  EXPECT_EQ(Python(R"(
import ctypes, errno, os
def refused(name, what, *args, **more):
    try:
        what(*args, **more)
        print(name, "done")
    except OSError as error:
        print(name, errno.errorcode[error.errno])
fd = os.open("Game/a.txt", os.O_RDONLY)
place = os.open("Game/b.txt", os.O_PATH)
refused("fchmod", os.fchmod, fd, 0o777)
refused("fchown", os.fchown, fd, os.getuid(), -1)
refused("futimens", os.utime, fd)
refused("fsetxattr", os.setxattr, fd, "user.x", b"1")
refused("link", os.link, f"/proc/self/fd/{place}", "mine")
refused("link", os.link, f"/proc/self/fd/{fd}", "mine")
refused("chmod", os.chmod, f"/proc/self/fd/{place}", 0o777)
mine = os.open("own", os.O_RDWR | os.O_CREAT)
refused("own", os.fchmod, mine, 0o700)
refused("own", os.utime, mine)
)"),
            "fchmod EROFS\nfchown EROFS\nfutimens EROFS\nfsetxattr EROFS\nlink EXDEV\nlink EXDEV\n"
            "chmod EROFS\nown done\nown done\n");
}

TEST_F(CallWatchTest, ServersOfOthersAreNotTalkedTo) {
  const std::string outside = dir_ + "/else/server";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  outside.copy(address.sun_path, sizeof(address.sun_path) - 1);
  const FileDescriptor server(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::bind(server.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(::listen(server.get(), 1), 0);
  for (const char* script :
       {"socket.socket(socket.AF_UNIX).connect(os.environ['E'] + '/server')",
        "socket.socket(socket.AF_UNIX).connect('\\0none')",
        "socket.socket().connect(('127.0.0.1', 9))",
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))",
        "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendmsg([b'x'], [], 0, os.environ['E'] + "
        "'/server')"}) {
    Python(fmt::format(
        "import os, socket, time\ntry:\n  {}\nexcept OSError: pass\ntime.sleep(1000)", script));
    ExpectRefusal(script);
  }
  EXPECT_EQ(Python(R"(
import os, pwd, socket
for name in ("mine", "\0mine-" + os.environ["E"]):
    server, client = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
    server.bind(name); server.listen(); client.connect(name)
    client.send(b"x"); print(server.accept()[0].recv(1))
a, b = socket.socketpair()
a.sendmsg([b"y"]); print(b.recv(1))
try: socket.socket(socket.AF_UNIX).connect(os.environ["E"] + "/none")
except FileNotFoundError: print("none")
pwd.getpwuid(0)
)"),
            "b'x'\nb'x'\nb'y'\nnone\n");
  EXPECT_TRUE(trouble_.ok()) << trouble_;
  EXPECT_EQ(FoundAt(dir_ + "/else/none"), Looks::Found::kAbsent);
}

TEST_F(CallWatchTest, PathsByRulesOfItsOwnEndTheRun) {
  for (const int resolve : {0x10, 0x08, 0x04}) {  // RESOLVE_IN_ROOT, _BENEATH, _NO_SYMLINKS
    Python(fmt::format(R"(
import ctypes, os, time
how = (ctypes.c_uint64 * 3)(os.O_RDONLY, 0, {})
ctypes.CDLL(None).syscall(437, os.open("Game", os.O_PATH), b"/a.txt", how, 24)
time.sleep(1000)
)",
                       resolve));
    ExpectRefusal("openat2");
  }
}

TEST_F(CallWatchTest, WhatItWroteDoesNotSayWhereTheFolderIs) {
  CallWatch watch({.folder = folder_.get(), .own = dir_ + "/work", .tools = dir_ + "/tools"});
  const std::string output = dir_ + "/work/output";
  ASSERT_TRUE(WriteFileAtomic(output, std::string(5'000'000, 'x') + "/else/where").ok());
  EXPECT_TRUE(watch.CheckWritten(dir_ + "/work").ok());
  for (const size_t before : {size_t{0}, size_t{3}, size_t{1} << 20, (size_t{1} << 20) - 5}) {
    ASSERT_TRUE(
        WriteFileAtomic(output, std::string(before, 'x') + dir_ + "/view" + "/Game/a.txt").ok());
    const absl::Status said = watch.CheckWritten(dir_ + "/work");
    EXPECT_TRUE(absl::IsFailedPrecondition(said)) << before << said;
    EXPECT_THAT(MessageOf(said), HasSubstr("into output"));
  }
}

TEST_F(CallWatchTest, ACopyIsTheSame) {
  // cp compares the inodes of the file that it looked at and the file that it opened.
  EXPECT_EQ(
      Shell("cp -r Game/. copy && cat copy/a.txt copy/deep/er/c.txt && tar -cf t.tar Game/b.txt "
            "&& tar -xOf t.tar"),
      "of a\nof c\nof b\n");
}

TEST_F(CallWatchTest, ThreadsChildrenAndDescriptorsOfFolders) {
  EXPECT_EQ(
      Python(R"(
import os, subprocess, threading
fd = os.open("Game/deep", os.O_RDONLY | os.O_DIRECTORY)
print(os.read(os.open("er/c.txt", os.O_RDONLY, dir_fd=fd), 9))
print(os.stat("er/c.txt", dir_fd=fd).st_size, os.access("er/c.txt", os.R_OK, dir_fd=fd))
place = os.open("Game/b.txt", os.O_PATH)
print(open(f"/proc/self/fd/{place}").read())
out = {}
def read(name):
    out[name] = open(f"Game/{name}.txt").read()
threads = [threading.Thread(target=read, args=(name,)) for name in "ab" * 8]
[t.start() for t in threads]; [t.join() for t in threads]
print(sorted(out.items()))
print(subprocess.run(["cat", "Game/a.txt"], capture_output=True).stdout)
pid = os.posix_spawn("/bin/cat", ["cat", "Game/b.txt"], os.environ)
print(os.waitpid(pid, 0)[1])
)"),
      "b'of c\\n'\n5 True\nof b\n\n[('a', 'of a\\n'), ('b', 'of b\\n')]\nb'of a\\n'\nof b\n0\n");
}

TEST_F(CallWatchTest, NewerCallsAreSeenAndIoUringIsMissing) {
  EXPECT_EQ(Python(R"(
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
how = (ctypes.c_uint64 * 3)(os.O_RDONLY, 0, 0)
fd = libc.syscall(437, -100, b"Game/deep/er/c.txt", how, 24)  # openat2
print(os.read(fd, 9))
how[0] = os.O_RDWR
print(libc.syscall(437, -100, b"Game/a.txt", how, 24), errno.errorcode[ctypes.get_errno()])
print(libc.syscall(332, -100, b"Game/b.txt", 0, 0x7ff, ctypes.create_string_buffer(256)))  # statx
print(libc.syscall(439, -100, b"Game/b.txt", 4, 0))  # faccessat2
print(libc.syscall(425, 1, ctypes.create_string_buffer(256)), errno.errorcode[ctypes.get_errno()])  # io_uring_setup
print(libc.open(ctypes.c_void_p(1), 0), errno.errorcode[ctypes.get_errno()])
print(libc.open(b"x" * 5000, 0), errno.errorcode[ctypes.get_errno()])
)"),
            "b'of c\\n'\n-1 EROFS\n0\n0\n-1 ENOSYS\n-1 EFAULT\n-1 ENAMETOOLONG\n");
}

TEST_F(CallWatchTest, ProgramsOfTheFolderRunAndSoDoTheirInterpreters) {
  EXPECT_EQ(Run({"Game/run", "x"}), "ran x\n");
  EXPECT_EQ(Shell("Game/by; cd Game/deep && ../run y"), "ran Game/by\nran y\n");
}

TEST_F(CallWatchTest, NothingInTheFolderCanBeChanged) {
  EXPECT_EQ(Python(R"(
import errno, os
def refused(what, *args, **more):
    try:
        what(*args, **more)
        print(what.__name__, "done")
    except OSError as error:
        print(what.__name__, errno.errorcode[error.errno])
for mode in ("w", "a", "r+", "x"):
    refused(open, "Game/a.txt", mode)
refused(open, "Game/new.txt", "w")
refused(os.open, "Game", os.O_RDWR | os.O_TMPFILE)
for what, *args in ((os.mkdir, "Game/new"), (os.mkdir, "Game/deep"), (os.unlink, "Game/a.txt"),
                    (os.unlink, "Game/no.txt"), (os.rmdir, "Game/deep"), (os.rename, "Game/a.txt", "mine"),
                    (os.symlink, "x", "Game/x"), (os.link, "Game/a.txt", "mine"), (os.chmod, "Game/a.txt", 0o777),
                    (os.utime, "Game/a.txt"), (os.truncate, "Game/a.txt", 0), (os.mknod, "Game/node")):
    refused(what, *args)
open("mine", "w").write("m")
refused(os.rename, "mine", "Game/mine")
refused(os.link, "mine", "Game/mine")
os.rename("mine", "theirs"); os.mkdir("folder"); os.unlink("theirs")
print(open("Game/a.txt").read())
)"),
            "open EROFS\nopen EROFS\nopen EROFS\nopen EEXIST\nopen EROFS\nopen EROFS\nmkdir EROFS\n"
            "mkdir EEXIST\nunlink EROFS\nunlink ENOENT\nrmdir EROFS\nrename EROFS\nsymlink EROFS\n"
            "link EXDEV\nchmod EROFS\nutime EROFS\ntruncate EROFS\nmknod EROFS\nrename EROFS\n"
            "link EROFS\nof a\n\n");
}

TEST_F(CallWatchTest, AFileThatCannotBeHadEndsTheRun) {
  folder_->broken = "/Game/b.txt";
  const std::string said = Shell("cat Game/a.txt; cat Game/b.txt || sleep 1000");
  EXPECT_THAT(said, HasSubstr("of a\n"));
  EXPECT_TRUE(absl::IsUnavailable(trouble_)) << trouble_;
  EXPECT_EQ(status_.signal, SIGKILL) << said;
}

TEST_F(CallWatchTest, WhatCannotBeWatchedEndsTheRun) {
  for (const char* call : {"os.chroot('.')", "ctypes.CDLL(None).unshare(0x10020000)",
                           "ctypes.CDLL(None).mount(b'none', b'.', b'tmpfs', 0, None)"}) {
    Python(fmt::format(
        "import ctypes, os, time\ntry:\n  {}\nexcept OSError: pass\ntime.sleep(1000)", call));
    ExpectRefusal(call);
  }
}

TEST_F(CallWatchTest, SignalsDoNotKeepACallFromItsEnd) {
  EXPECT_EQ(Python(R"(
import os, signal
signal.signal(signal.SIGALRM, lambda *_: None)
signal.siginterrupt(signal.SIGALRM, False)  # as all do but for Python
signal.setitimer(signal.ITIMER_REAL, 0.0002, 0.0002)
n = 0
for i in range(300):
    n += len(open("Game/a.txt").read()) + os.stat("Game/deep/er/c.txt").st_size
print(n)
)"),
            "3000\n");
}

TEST_F(CallWatchTest, AProgramThatIsNotThereIsAnError) {
  EXPECT_THAT(Run({"Game/none"}), HasSubstr("NOT_FOUND"));
  EXPECT_THAT(Run({"/bin/none"}), HasSubstr("NOT_FOUND"));
}

}  // namespace
}  // namespace galley::worker
