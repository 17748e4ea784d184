// Programs that look into a folder whose files come only when they are needed.
#include "worker/walls/call_watch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "worker/cookers/command/run_program.h"

namespace galley::worker {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Files by their paths below it. Until one is filled it holds zeros.
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

  // What it prints.
  std::string Run(std::vector<std::string> argv) {
    CallWatch watch(*folder_);
    auto run =
        RunProgram({.argv = std::move(argv),
                    .environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "V=" + dir_ + "/view"},
                    .working_directory = dir_ + "/work",
                    .watch = &watch},
                   [] { return absl::Minutes(1); });
    trouble_ = watch.trouble();
    if (!run.ok()) return run.status().ToString();
    status_ = run->status;
    return run->output;
  }
  std::string Shell(const std::string& script) { return Run({"/bin/sh", "-c", script}); }
  std::string Python(const std::string& script) { return Run({"/usr/bin/python3", "-uc", script}); }

  std::string dir_;
  std::unique_ptr<TextFolder> folder_;
  absl::Status trouble_;
  ExitStatus status_;
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
  // The links of the kernel's own kind that lead nowhere of ours.
  EXPECT_EQ(Shell("echo piped | cat /dev/stdin /proc/self/fd/0"), "piped\n");
}

TEST_F(CallWatchTest, RealPathsAreFound) {
  EXPECT_EQ(Shell("realpath Game/deep/er/c.txt; readlink -f Game/deep/er/../er/c.txt"),
            dir_ + "/view/Game/deep/er/c.txt\n" + dir_ + "/view/Game/deep/er/c.txt\n");
}

TEST_F(CallWatchTest, ACopyIsTheSame) {
  // (cp compares the inodes of what it looked at and what it opened.)
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
    EXPECT_TRUE(absl::IsFailedPrecondition(trouble_)) << call << trouble_;
    EXPECT_THAT(MessageOf(trouble_), HasSubstr("on a machine without the project"));
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
