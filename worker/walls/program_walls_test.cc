#include "worker/walls/program_walls.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <thread>

#include "common/base/real_path.h"
#include "common/base/status_macros.h"
#include "worker/walls/project_walls.h"

namespace galley::worker {
namespace {

using testing::HasSubstr;

constexpr uid_t kNobody = 65534;

//   project/content/a.txt, sub/, link -> outside   what a program may not change
//   project/jobs/                                  where it runs, and may write
//   outside/                                       the rest of the machine
class ProgramWallsTest : public testing::Test {
 protected:
  void SetUp() override {
    auto root = MakeTemporaryDirectory(RealPath(testing::TempDir()), "walls-");
    ASSERT_TRUE(root.ok());
    root_ = *root;
    Make();
    ::chmod(root_.c_str(), 0777);
    if (const absl::Status can = CanBuildWalls(); !can.ok()) GTEST_SKIP() << can;
  }
  void TearDown() override {
    for (const std::string& point : mounted_) ::umount2(point.c_str(), MNT_DETACH);
    RemoveAll(root_).IgnoreError();
  }
  void Make() {
    for (const char* folder : {"/project/content/sub", "/project/jobs", "/outside"})
      ASSERT_TRUE(CreateDirectories(root_ + folder).ok());
    ASSERT_TRUE(WriteFileAtomic(root_ + "/project/content/a.txt", "art").ok());
    ASSERT_EQ(::symlink((root_ + "/project/content").c_str(), (root_ + "/outside/link").c_str()),
              0);
  }
  ProgramWalls::Options Options() const {
    return {.read_only = {root_ + "/project"}, .writable = root_ + "/project/jobs"};
  }

  // The shell's answer to the script, run in jobs/; "": the script ended with 0.
  std::string Run(const std::string& script, const ChildWalls* walls) const {
    const std::string out = root_ + "/outside/said";
    ChildOptions options;
    options.argv = {"/bin/bash", "-c", script};
    options.environment = {"PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "ROOT=" + root_,
                           "LANG=C.UTF-8"};
    options.working_directory = root_ + "/project/jobs";
    options.walls = walls;
    const FileDescriptor file(::open(out.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666));
    options.inherit = {{file.get(), 1}, {file.get(), 2}};
    auto child = ChildProcess::Start(options);
    if (!child.ok()) return "not started: " + MessageOf(child.status());
    const ExitStatus ended = child->Wait();
    if (ended.ok()) return "";
    return ended.ToString() + ": " + ReadFile(out).value_or("");
  }
  std::string RunWalled(const std::string& script) const {
    const auto walls = ProgramWalls::Build(Options());
    if (!walls.ok()) return MessageOf(walls.status());
    return Run(script, walls->get());
  }

  // Calls `what` as an ordinary user, in a process of its own.
  static void AsNobody(const std::function<void()>& what) {
    if (::geteuid() != 0) return what();
    const pid_t pid = ::fork();
    if (pid == 0) {
      if (::setgroups(0, nullptr) != 0 || ::setgid(kNobody) != 0 || ::setuid(kNobody) != 0)
        ::_exit(2);
      ::prctl(PR_SET_DUMPABLE, 1);
      what();
      ::_exit(HasFailure() ? 1 : 0);
    }
    int status = 0;
    ::waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0);
  }

  // Calls `what` as root of a user namespace in which no further one can be made, with or without
  // the right to mount.
  static void WithoutUserNamespaces(bool may_mount, const std::function<void()>& what) {
    const std::string user = std::to_string(::geteuid()), group = std::to_string(::getegid());
    const pid_t pid = ::fork();
    if (pid == 0) {
      if (::unshare(CLONE_NEWUSER) != 0) ::_exit(3);
      const auto write = [](const char* path, const std::string& text) {
        const FileDescriptor file(::open(path, O_WRONLY | O_CLOEXEC));
        return ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
      };
      if (!write("/proc/self/uid_map", "0 " + user + " 1") ||
          !write("/proc/self/setgroups", "deny") ||
          !write("/proc/self/gid_map", "0 " + group + " 1") ||
          !write("/proc/sys/user/max_user_namespaces", "0"))
        ::_exit(4);
      if (!may_mount) {
        __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
        __user_cap_data_struct none[2] = {};
        if (::syscall(SYS_capset, &header, none) != 0) ::_exit(5);
      }
      what();
      ::_exit(HasFailure() ? 1 : 0);
    }
    int status = 0;
    ::waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0);
  }

  bool IsRoot() const { return ::geteuid() == 0; }
  void Mount(const std::string& source, const std::string& point, const char* type,
             unsigned long flags) {
    ASSERT_TRUE(CreateDirectories(point).ok());
    ASSERT_EQ(::mount(source.c_str(), point.c_str(), type, flags, nullptr), 0);
    mounted_.push_back(point);
  }

  std::string root_;
  std::vector<std::string> mounted_;
};

// Ways to change the content, each by another call.
constexpr const char* kChanges[] = {
    "echo x > $P/a.txt",
    "echo x >> $P/a.txt",
    "exec 3<> $P/a.txt",
    "rm $P/a.txt",
    "mv $P/a.txt $P/b.txt",
    "mv $P/a.txt .",
    "p=$(realpath $P) && mv $p $p-moved",
    "chmod 600 $P/a.txt",
    "chown $(id -u) $P/a.txt",
    "touch $P/a.txt",
    "touch -h $P/a.txt",
    "truncate -s 0 $P/a.txt",
    "mkdir $P/new",
    "rmdir $P/sub",
    "ln -s x $P/new",
    "ln $P/a.txt $P/new",
    "ln $P/a.txt new",
    "touch new && ln new $P/new",
    "mkfifo $P/new",
    "cp /etc/hostname $P/new",
    "setfattr -n user.x -v y $P/a.txt",
    "python3 -c 'import mmap,os;f=os.open(os.environ[\"P\"]+\"/a.txt\",os.O_RDWR);"
    "mmap.mmap(f,3)[0]=65'",
    "python3 -c 'import os;os.rename(os.environ[\"P\"]+\"/sub\",os.environ[\"P\"]+\"/s\")'",
};

TEST_F(ProgramWallsTest, NoCallChangesTheContentByAnyPath) {
  const std::string content = root_ + "/project/content";
  const std::string paths[] = {content,
                               "../content",
                               "/proc/self/root" + content,
                               "/proc/self/cwd/../content",
                               "/proc/thread-self/root" + content,
                               root_ + "/outside/link"};
  for (const std::string& path : paths) {
    for (const char* change : kChanges) {
      const std::string said = RunWalled("export P=" + path + "\n" + change);
      if (said.find("command not found") != std::string::npos) continue;
      EXPECT_NE(said, "") << change << " by " << path;
    }
    EXPECT_THAT(RunWalled("echo x > " + path + "/a.txt"), HasSubstr("Read-only file system"));
  }
  EXPECT_EQ(*ReadFile(content + "/a.txt"), "art");
  EXPECT_TRUE(FileExists(content + "/sub"));
  EXPECT_FALSE(FileExists(content + "/new"));
}

// Shows that the test above tests something.
TEST_F(ProgramWallsTest, WithoutWallsTheSameCallsChangeIt) {
  for (const char* change : kChanges) {
    RemoveAll(root_ + "/project").IgnoreError();
    RemoveAll(root_ + "/outside").IgnoreError();
    Make();
    const std::string said =
        Run("export P=" + root_ + "/project/content\n" + change, /*walls=*/nullptr);
    const bool has_program = said.find("command not found") == std::string::npos;
    EXPECT_EQ(has_program ? said : "", "") << change;
  }
}

TEST_F(ProgramWallsTest, TheJobsFolderAndTheRestOfTheMachineAreAsTheyWere) {
  EXPECT_EQ(RunWalled("echo x > y && mkdir d && mv y d/z && echo x > $ROOT/outside/w && "
                      "echo x > /dev/null && t=$(mktemp) && rm $t && cat ../content/a.txt"),
            "");
  EXPECT_TRUE(FileExists(root_ + "/project/jobs/d/z"));
}

TEST_F(ProgramWallsTest, ProgramsKeepTheirUserAndOutputsAreOwnedByHim) {
  EXPECT_EQ(RunWalled("id -u > u; id -g > g"), "");
  EXPECT_EQ(*ReadFile(root_ + "/project/jobs/u"), std::to_string(::geteuid()) + "\n");
  EXPECT_EQ(*ReadFile(root_ + "/project/jobs/g"), std::to_string(::getegid()) + "\n");
  struct stat info {};
  ASSERT_EQ(::stat((root_ + "/project/jobs/u").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, ::geteuid());
  EXPECT_EQ(info.st_gid, ::getegid());
}

TEST_F(ProgramWallsTest, AnOrdinaryUserHasWallsToo) {
  for (const char* folder : {"/project", "/project/content", "/project/jobs", "/outside"})
    ::chmod((root_ + folder).c_str(), 0777);
  AsNobody([this] {
    EXPECT_THAT(RunWalled("echo x > ../content/new"), HasSubstr("Read-only file system"));
    EXPECT_EQ(RunWalled("echo x > mine; id -u > u"), "");
  });
  struct stat info {};
  ASSERT_EQ(::stat((root_ + "/project/jobs/mine").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, IsRoot() ? kNobody : ::geteuid());
}

TEST_F(ProgramWallsTest, NobodyUndoesIt) {
  const std::string content = root_ + "/project/content";
  for (const char* undo :
       {"mount -o remount,rw $C", "mount -o remount,bind,rw $ROOT/project", "umount $ROOT/project",
        "umount -l $ROOT/project", "mount --bind $C $ROOT/outside", "nsenter -t $PPID -m true",
        "nsenter -t $PPID -U -m true", "nsenter -t 1 -m true", "ls /proc/$PPID/root/",
        "ls /proc/$PPID/cwd/", "ls /proc/1/root/", "unshare -m umount $ROOT/project",
        "unshare -rm umount $ROOT/project", "unshare -rm mount -o remount,bind,rw $ROOT/project",
        "unshare -rm sh -c 'mount --bind $ROOT/project $ROOT/outside && "
        "mount -o remount,bind,rw $ROOT/outside && echo x > $ROOT/outside/content/new'",
        "unshare -r nsenter -t $PPID -m true"}) {
    EXPECT_NE(RunWalled("export C=" + content + "\n" + undo), "") << undo;
  }
  EXPECT_FALSE(FileExists(content + "/new"));
}

TEST_F(ProgramWallsTest, RootHasWallsWithoutUserNamespacesToo) {
  WithoutUserNamespaces(/*may_mount=*/true, [this] {
    EXPECT_THAT(RunWalled("echo x > ../content/a.txt"), HasSubstr("Read-only file system"));
    EXPECT_EQ(RunWalled("echo x > mine"), "");
    for (const char* undo : {"mount -o remount,bind,rw $ROOT/project", "umount $ROOT/project",
                             "mount --bind ../content $ROOT/outside", "nsenter -t $PPID -m true",
                             "ls /proc/$PPID/root/", "unshare -m umount $ROOT/project"})
      EXPECT_NE(RunWalled(undo), "") << undo;
  });
}

TEST_F(ProgramWallsTest, WhereTheMachineDoesNotLetUsTheStepIsNamed) {
  WithoutUserNamespaces(/*may_mount=*/false, [this] {
    const auto walls = ProgramWalls::Build(Options());
    ASSERT_FALSE(walls.ok());
    EXPECT_THAT(MessageOf(walls.status()), HasSubstr("this process may not make a user namespace"));
  });
}

TEST_F(ProgramWallsTest, WhatIsMountedInTheProjectIsReadOnlyToo) {
  if (!IsRoot()) GTEST_SKIP() << "only root mounts";
  Mount("tmpfs", root_ + "/project/content/sub/nested", "tmpfs", 0);
  ASSERT_TRUE(WriteFileAtomic(root_ + "/project/content/sub/nested/b", "art").ok());
  EXPECT_THAT(RunWalled("echo x > ../content/sub/nested/b"), HasSubstr("Read-only file system"));
  EXPECT_EQ(RunWalled("cat ../content/sub/nested/b"), "");
}

TEST_F(ProgramWallsTest, AnotherPlaceThatShowsTheProjectIsReadOnlyToo) {
  if (!IsRoot()) GTEST_SKIP() << "only root mounts";
  Mount(root_ + "/project", root_ + "/shown", nullptr, MS_BIND);
  Mount(root_ + "/project/content", root_ + "/outside/part", nullptr, MS_BIND);
  Mount("tmpfs", root_ + "/project/content/nested", "tmpfs", 0);
  Mount(root_ + "/project/content/nested", root_ + "/outside/nested", nullptr, MS_BIND);
  for (const char* path : {"/shown/content/a.txt", "/outside/part/a.txt", "/outside/nested/new"})
    EXPECT_THAT(RunWalled("echo x > $ROOT" + std::string(path)),
                HasSubstr("Read-only file system"));
}

// The first two builders of each call are killed, wherever they are.
TEST_F(ProgramWallsTest, ABuilderThatIsKilledIsReplaced) {
  ::signal(SIGPIPE, SIG_IGN);
  std::atomic<int> left = 0;
  std::atomic<bool> is_over = false;
  std::thread killer([&] {
    pid_t last = 0;
    while (!is_over) {
      for (const pid_t child : ChildrenOf(::getpid())) {
        if (left == 0 || child == last) continue;
        ::kill(last = child, SIGKILL);
        --left;
      }
    }
  });
  int killed = 0;
  for (int i = 0; i < 500 && killed < 40; ++i) {
    left = 2;
    const auto walls = ProgramWalls::Build(Options());
    EXPECT_TRUE(walls.ok()) << walls.status();
    killed += 2 - left.exchange(0);
  }
  is_over = true;
  killer.join();
  EXPECT_GE(killed, 40);
}

TEST_F(ProgramWallsTest, WhatIsNotThereIsPassedOver) {
  ProgramWalls::Options options = Options();
  options.read_only.push_back(root_ + "/absent");
  options.read_only.push_back("");
  const auto walls = ProgramWalls::Build(options);
  ASSERT_TRUE(walls.ok()) << walls.status();
  EXPECT_EQ(Run("true", walls->get()), "");
}

TEST_F(ProgramWallsTest, TheyAreBuiltAgainForOtherContentAndWhenSomethingWasMounted) {
  ProjectWalls walls(
      {.mode = "best", .read_only = {root_ + "/project"}, .jobs = root_ + "/project/jobs"});
  const auto first = walls.Around({});
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_NE(*first, nullptr);
  EXPECT_EQ(*walls.Around({}), *first);
  EXPECT_EQ(Run("echo x > $ROOT/outside/x", *first), "");
  const auto other = walls.Around({root_ + "/outside/link"});
  ASSERT_TRUE(other.ok()) << other.status();
  const auto outside = walls.Around({root_ + "/outside"});
  EXPECT_NE(Run("echo x > $ROOT/outside/x", *outside), "");
  if (!IsRoot()) return;
  ASSERT_TRUE(walls.Around({}).ok());
  Mount("tmpfs", root_ + "/project/content/late", "tmpfs", 0);
  EXPECT_THAT(Run("echo x > ../content/late/new", *walls.Around({})),
              HasSubstr("Read-only file system"));
}

TEST_F(ProgramWallsTest, OffMeansNone) {
  ProjectWalls walls({.mode = "off", .read_only = {root_}, .jobs = ""});
  const auto none = walls.Around({});
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(*none, nullptr);
}

}  // namespace
}  // namespace galley::worker
