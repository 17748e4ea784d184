#include "common/store/local/sessions.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <optional>

#include "common/store/local/open.h"
#include "common/store/testing/sample.h"
#include "fmt/format.h"
#include "gmock/gmock.h"

namespace galley::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class SessionsTest : public testing::Test {
 protected:
  SessionsTest() {
    EXPECT_TRUE(OpenLocalStore(directory_, {.sync = [](int) { return 0; }}).ok());
  }
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    const auto sessions = LiveSessions(directory_);
    EXPECT_TRUE(sessions.ok()) << sessions.status();
    for (const SessionInfo& session : *sessions) names.push_back(session.name);
    return names;
  }

  const TemporaryFolder folder_;
  const std::string directory_ = folder_.In("store");
};

TEST_F(SessionsTest, AreThereUntilTheyEnd) {
  EXPECT_THAT(Names(), IsEmpty());
  const absl::Time before = BootTime();
  std::optional<Session> first(*Session::Begin(directory_, "cook"));
  const Session second = *Session::Begin(directory_, "serve\nof two lines");
  EXPECT_THAT(Names(), ElementsAre("cook", "serve of two lines"));
  const SessionInfo info = LiveSessions(directory_)->front();
  EXPECT_EQ(info.pid, ::getpid());
  EXPECT_GE(info.begun, before);
  EXPECT_LE(info.begun, BootTime());
  first.reset();
  EXPECT_THAT(Names(), ElementsAre("serve of two lines"));
}

TEST_F(SessionsTest, OneThatIsRenewedIsYoungerThanThoseThatCameAfterIt) {
  Session first = *Session::Begin(directory_, "first");
  const Session second = *Session::Begin(directory_, "second");
  EXPECT_THAT(Names(), ElementsAre("first", "second"));
  ASSERT_TRUE(first.Renew().ok());
  EXPECT_THAT(Names(), ElementsAre("second", "first"));
}

TEST_F(SessionsTest, OfAProcessThatWasKilledEndWithIt) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const absl::StatusOr<Session> session = Session::Begin(directory_, "killed");
    char byte = session.ok() ? 'y' : 'n';
    static_cast<void>(::write(ready[1], &byte, 1));
    ::pause();
    ::_exit(1);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  ASSERT_EQ(byte, 'y');
  EXPECT_THAT(Names(), ElementsAre("killed"));
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_THAT(Names(), IsEmpty());
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(SessionsTest, OneThatCannotBeReadCountsAsTheOldest) {
  const Session good = *Session::Begin(directory_, "good");
  const Session odd = *Session::Begin(directory_, "odd");
  for (const auto& entry : std::filesystem::directory_iterator(JoinPath(directory_, "sessions"))) {
    const std::string text = *ReadFile(entry.path().string());
    if (text.find("odd") == std::string::npos) continue;
    std::filesystem::resize_file(entry.path(), 20);
  }
  EXPECT_THAT(Names(), ElementsAre("one that cannot be read", "good"));
  EXPECT_EQ(LiveSessions(directory_)->front().begun, absl::InfinitePast());
}

TEST_F(SessionsTest, SayForHowLongTheirProcessesHaveRunWhateverTheyRenewed) {
  Session session = *Session::Begin(directory_, "store serve");
  ASSERT_TRUE(session.Renew(absl::Hours(1'000'000)).ok());
  const SessionInfo info = LiveSessions(directory_)->front();
  EXPECT_EQ(info.begun, absl::UnixEpoch());
  const std::string process = fmt::format("store serve (process {}, for ", ::getpid());
  EXPECT_EQ(DescribeSession(info, info.started + absl::Milliseconds(13'700)), process + "13s)");
  EXPECT_EQ(DescribeSession(info, info.started), process + "less than 1s)");
}

}  // namespace
}  // namespace galley::store
