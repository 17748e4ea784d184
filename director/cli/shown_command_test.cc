#include "director/cli/shown_command.h"

#include "common/base/status_macros.h"
#include "gmock/gmock.h"

namespace galley::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

v1::ShowAsk AskWhy(const std::string& package) {
  v1::ShowAsk ask;
  ask.mutable_why()->set_package(package);
  return ask;
}

v1::ShowAsk AskLogs(const std::string& what) {
  v1::ShowAsk ask;
  ask.mutable_logs()->set_what(what);
  return ask;
}

TEST(ShownCommandTest, EachOptionIsAnArgumentOfItsOwn) {
  v1::ShowAsk why = AskWhy("/Game/--all; rm -r x.png");
  why.mutable_why()->set_platform("--project");
  why.mutable_why()->set_limit(7);
  why.mutable_why()->set_cursor(9);
  why.mutable_why()->set_all(true);
  why.set_json(true);
  why.set_verbose(true);
  EXPECT_THAT(ArgumentsOf(why).value(),
              ElementsAre("why", "--json", "--verbose", "--platform=--project", "--limit=7",
                          "--cursor=9", "--all", "--", "/Game/--all; rm -r x.png"));
  v1::ShowAsk logs = AskLogs("--follow");
  logs.mutable_logs()->set_since("12h");
  logs.mutable_logs()->set_lines(5);
  logs.set_quiet(true);
  EXPECT_THAT(ArgumentsOf(logs).value(),
              ElementsAre("logs", "--quiet", "--since=12h", "-n", "5", "--", "--follow"));
  EXPECT_THAT(ArgumentsOf(AskLogs("")).value(), ElementsAre("logs", "-n", "0"));
}

TEST(ShownCommandTest, WhatNamesFilesOfTheDirectorsMachineIsRefused) {
  for (const char* package : {"", "a.png", "content/a.png", "/Game/../../etc/passwd", "/Game//a",
                              "/Game/a\nb", "/Game/a/", "."}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ArgumentsOf(AskWhy(package)).status())) << package;
  }
  EXPECT_THAT(
      MessageOf(ArgumentsOf(AskWhy("a.png")).status()),
      HasSubstr("a.png cannot be asked for from another machine: expected the virtual path"));
  for (const char* what : {"content/a.png", "..", ".", "/Game/../x", "a/../../b"})
    EXPECT_TRUE(absl::IsInvalidArgument(ArgumentsOf(AskLogs(what)).status())) << what;
  EXPECT_TRUE(absl::IsInvalidArgument(ArgumentsOf(AskLogs(std::string("a\0b", 3))).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ArgumentsOf(AskLogs(std::string(300, 'a'))).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ArgumentsOf(v1::ShowAsk()).status()));
  v1::ShowAsk far = AskWhy("/Game/a.png");
  far.mutable_why()->set_platform("../x");
  EXPECT_TRUE(absl::IsInvalidArgument(ArgumentsOf(far).status()));
}

// CountingAudience: counts what it is told.
class CountingAudience final : public director::Audience {
 public:
  bool Tell(const v1::Shown& shown) override {
    bytes += shown.output().size() + shown.errors().size();
    return is_there;
  }
  bool IsThere() const override { return is_there; }
  size_t bytes = 0;
  bool is_there = true;
};

TEST(ShownCommandTest, NoMoreThan64MiBAreTold) {
  constexpr size_t kPiece = 1 << 20;
  const std::string piece(kPiece, 'x');
  CountingAudience audience;
  ShownOutput output(audience);
  for (int i = 0; i < 64; ++i) ASSERT_TRUE(output.Take(i % 2 == 1, piece).ok()) << i;
  EXPECT_TRUE(output.Take(false, "").ok());
  const absl::Status more = output.Take(true, "y");
  EXPECT_TRUE(absl::IsResourceExhausted(more)) << more;
  EXPECT_THAT(MessageOf(more), HasSubstr("more than 64 MiB, and the rest is left out: ask for"));
  EXPECT_EQ(audience.bytes, 64 * kPiece);
}

TEST(ShownCommandTest, NothingIsToldToAnAudienceThatLeft) {
  CountingAudience audience;
  audience.is_there = false;
  ShownOutput output(audience);
  EXPECT_TRUE(absl::IsCancelled(output.Take(false, "")));
  EXPECT_TRUE(absl::IsCancelled(output.Take(false, "x")));
}

}  // namespace
}  // namespace galley::cli
