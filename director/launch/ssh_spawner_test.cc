// SshSpawnerTest: uses a program of its own in place of ssh, first in PATH.
#include "director/launch/ssh_spawner.h"

#include <sys/stat.h>

#include <cstdlib>

#include "common/base/file.h"
#include "common/base/mutex.h"
#include "common/base/testing/await.h"
#include "director/launch/testing/test_programs.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class SshSpawnerTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = MakeTemporaryDirectory(testing::TempDir(), "ssh").value();
    path_ = std::getenv("PATH");
    ::setenv("PATH", fmt::format("{}:{}", folder_, path_).c_str(), 1);
  }
  void TearDown() override {
    ::setenv("PATH", path_.c_str(), 1);
    ASSERT_TRUE(RemoveAll(folder_).ok());
  }

  std::string Path(std::string_view name) const { return JoinPath(folder_, name); }
  void Script(std::string_view body) const {
    ASSERT_TRUE(WriteFileAtomic(Path("ssh"), fmt::format("#!/bin/sh\n{}\n", body)).ok());
    ASSERT_EQ(::chmod(Path("ssh").c_str(), 0755), 0);
  }
  std::unique_ptr<Launcher> Make(std::vector<FarmHost> hosts, bool forward = false,
                                 std::shared_ptr<BundleFile> bundle = nullptr) {
    return CreateSshLauncher(
        {.hosts = std::move(hosts),
         .arguments = {"-F", "/config"},
         .worker = {.program = "/opt/galley", .bundle = std::move(bundle)},
         .ticket = [] { return Ticket{.director = "127.0.0.1:9010"}; },
         .forward = forward},
        {.on_exit =
             [this](const WorkerExit& exit) {
               Note(fmt::format("exit {}{}: {}", exit.worker_id, exit.never_started ? " never" : "",
                                exit.reason));
             },
         .on_state =
             [this](const std::string& worker, LaunchState state, const std::string& where) {
               Note(fmt::format("{} {} {}", worker,
                                state == LaunchState::kQueued ? "queued" : "starting", where));
             },
         .on_token = [](const std::vector<std::string>&, const std::string&) {}});
  }
  WorkerStart Worker(std::string id) const {
    return {.worker_id = std::move(id), .log_file = Path("log")};
  }
  void Note(std::string line) {
    base::MutexLock lock(mutex_);
    notes_.push_back(std::move(line));
  }
  // Returns the notes of the launcher, once there are `count`; the test fails if there are fewer.
  std::vector<std::string> Await(size_t count) {
    AwaitOrFail([&] { return Notes().size() >= count; },
                fmt::format("{} notes of the launcher", count));
    return Notes();
  }
  std::vector<std::string> Notes() {
    base::MutexLock lock(mutex_);
    return notes_;
  }

  std::string folder_, path_;
  base::Mutex mutex_;
  std::vector<std::string> notes_ GALLEY_GUARDED_BY(mutex_);
};

TEST_F(SshSpawnerTest, TheTicketComesThroughTheInputWhichStaysOpen) {
  Script("echo \"$@\"; read line; echo \"got $line\"; read more || echo over; exit 7");
  auto launcher = Make({{.name = "build@node7", .port = 2222, .slots = 8}});
  launcher->Start(Worker("ssh-1"));
  EXPECT_EQ(Await(1).back(), "ssh-1 starting build@node7:2222");
  while (ReadFile(Path("log")).value_or("").find("got") == std::string::npos) {
  }
  const std::string log = ReadFile(Path("log")).value();
  EXPECT_THAT(log, HasSubstr("-F /config -o BatchMode=yes"));
  EXPECT_THAT(log,
              HasSubstr("-p 2222 -- build@node7 exec /bin/sh -c 'exec '\\''/opt/galley'\\'' worker "
                        "--ticket - --slots 8 --until-input-ends'"));
  EXPECT_THAT(log, HasSubstr(R"(got {"director":"127.0.0.1:9010","names":["ssh-1"])"));
  EXPECT_THAT(log, Not(HasSubstr("over"))) << "the input is still open";
  launcher.reset();
  EXPECT_THAT(Await(2).back(), HasSubstr("exit ssh-1: build@node7:2222: signal 15"));
}

TEST_F(SshSpawnerTest, AWorkerMayAttachThroughTheConnection) {
  Script("echo \"$@\"; read line; echo \"$line\"; exit 1");
  const auto launcher = Make({{.name = "node7"}}, /*forward=*/true);
  launcher->Start(Worker("ssh-1"));
  Await(2);
  const std::string log = ReadFile(Path("log")).value();
  const std::string socket =
      log.substr(log.find("-R ") + 3, log.find(":127.0.0.1:9010") - log.find("-R ") - 3);
  EXPECT_THAT(socket, testing::MatchesRegex("/tmp/galley-[0-9a-f]{16}\\.sock"));
  EXPECT_THAT(log, HasSubstr("\"director\":\"unix:" + socket));
  EXPECT_THAT(log, HasSubstr("rm -f " + socket));
}

TEST_F(SshSpawnerTest, WhatItSaidLastIsTheReasonOfItsEnd) {
  ASSERT_TRUE(WriteFileAtomic(Path("log"), "of an earlier worker\n").ok());
  Script("echo 'ssh: connect to host node7 port 22: No route to host' >&2; exit 255");
  const auto launcher = Make({{.name = "node7"}});
  launcher->Start(Worker("ssh-1"));
  EXPECT_EQ(Await(2).back(),
            "exit ssh-1: node7: ssh failed (255); it said: ssh: connect to host node7 port 22: No "
            "route to host");
}

TEST_F(SshSpawnerTest, EachMachineHasOneWorkerAndABadOneIsLeftAloneForAWhile) {
  Script(
      "for last; do host=$prev; prev=$last; done; test $host != bad && exec sleep 1000; exit 255");
  const auto launcher = Make({{.name = "bad"}, {.name = "good"}, {.name = "fine"}});
  launcher->Start(Worker("ssh-1"));
  EXPECT_THAT(Await(2).back(), HasSubstr("exit ssh-1: bad"));
  launcher->Start(Worker("ssh-2"));
  launcher->Start(Worker("ssh-3"));
  launcher->Start(Worker("ssh-4"));
  const auto notes = Await(5);
  EXPECT_EQ(notes[2], "ssh-2 starting good");
  EXPECT_EQ(notes[3], "ssh-3 starting fine");
  EXPECT_EQ(notes[4], "ssh-4 starting bad") << "after its pause";
}

// Runs the last argument, as a machine would.
constexpr const char* kMachine = R"(for last; do :; done; echo connected; exec sh -c "$last")";

TEST_F(SshSpawnerTest, AMachineThatLacksTheProgramsIsGivenThemOnce) {
  MakeTestPrograms(Path("programs"));
  const auto bundle = std::make_shared<BundleFile>(Path("programs"), Path("bundle"));
  Script(fmt::format("export HOME={}\n{}", Path("home"), kMachine));
  const auto launcher = Make({{.name = "node7", .slots = 3}}, false, bundle);
  launcher->Start(Worker("ssh-1"));
  const auto notes = Await(4);
  EXPECT_EQ(notes[0], "ssh-1 starting node7");
  EXPECT_THAT(notes[1], testing::MatchesRegex("ssh-1 queued node7 gets the programs \\(.* MiB\\)"));
  EXPECT_EQ(notes[2], "ssh-1 starting node7");
  EXPECT_THAT(notes[3], HasSubstr("exit ssh-1: node7: exit code 0"));
  constexpr const char* kCalled = "worker --ticket - --slots 3 --until-input-ends\n";
  EXPECT_EQ(ReadFile(Path("log")).value(),
            fmt::format("connected\nconnected\nconnected\n{}", kCalled));
  launcher->Start(Worker("ssh-2"));
  Await(6);
  EXPECT_THAT(ReadFile(Path("log")).value(),
              testing::EndsWith(fmt::format("{}connected\n{}", kCalled, kCalled)));
}

TEST_F(SshSpawnerTest, WhyProgramsCannotBeBroughtIsTheReason) {
  const auto bundle = std::make_shared<BundleFile>(Path("nothing"), Path("bundle"));
  Script(kMachine);
  const auto launcher = Make({{.name = "node7"}}, false, bundle);
  launcher->Start(Worker("ssh-1"));
  EXPECT_THAT(Await(1).back(), HasSubstr("exit ssh-1 never: [farm] program = \"bundle\": "));
}

TEST_F(SshSpawnerTest, AMachineWithoutRoomForTheProgramsIsNamed) {
  MakeTestPrograms(Path("programs"));
  const auto bundle = std::make_shared<BundleFile>(Path("programs"), Path("bundle"));
  ASSERT_TRUE(WriteFileAtomic(Path("head"), "#!/bin/sh\nexit 1\n").ok());
  ASSERT_EQ(::chmod(Path("head").c_str(), 0755), 0);
  Script(fmt::format("export HOME={}\n{}", Path("home"), kMachine));
  const auto launcher = Make({{.name = "node7"}}, /*forward=*/true, bundle);
  launcher->Start(Worker("ssh-1"));
  EXPECT_THAT(Await(3).back(), HasSubstr("node7: exit code 3; it said: connected\nconnected\n"
                                         "galley: the programs ("));
}

}  // namespace
}  // namespace galley::director
