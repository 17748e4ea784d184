#include "director/host/cook_notes.h"

#include "director/host/testing/fake_listener.h"
#include "gmock/gmock.h"

namespace galley::director {
namespace {

using testing::ElementsAre;

CookEvent::Done Done(const std::string& package, const std::string& key, ResultSource source) {
  StoredResult result;
  result.package = package;
  result.platform_name = "windows";
  result.action_key = Digest::Of(key);
  result.result.details.warnings = {"no normals"};
  return {std::make_shared<const StoredResult>(result), source};
}

TEST(CookNotesTest, WarningsOfAResultAreToldOnceAndBeforeIt) {
  FakeListener told;
  CookNotes notes(told);
  notes.Tell(Done("/Game/a.png", "1", ResultSource::kCached));
  notes.Tell(Done("/Game/a.png", "2", ResultSource::kCooked));
  EXPECT_THAT(told.lines, ElementsAre("warning /Game/a.png windows: no normals [other]",
                                      "done /Game/a.png windows", "done /Game/a.png windows"));
  EXPECT_EQ(notes.done().at({"/Game/a.png", "windows"}), Digest::Of("2"));
}

TEST(CookNotesTest, AWarningOfWhatWasAskedForIsNotToldByTheNextCook) {
  FakeListener told;
  CookNotes notes(told);
  notes.WarnOfAsk(record::WarningKind::kVersionControl, "no git");
  EXPECT_THAT(told.lines, ElementsAre("warning  : no git [version-control]"));
  EXPECT_TRUE(notes.replayed().warnings().empty());
  EXPECT_TRUE(notes.replayed().stands());
  EXPECT_FALSE(notes.has_failures());

  notes.SetWarningRules([](const std::string&) {
    record::WarningRules rules;
    rules.error.set(static_cast<size_t>(record::WarningKind::kVersionControl));
    rules.off.set(static_cast<size_t>(record::WarningKind::kOutputGrowth));
    return rules;
  });
  notes.WarnOfAsk(record::WarningKind::kOutputGrowth, "14 times");
  EXPECT_TRUE(notes.replayed().stands());
  notes.WarnOfAsk(record::WarningKind::kVersionControl, "no git");
  EXPECT_THAT(told.lines, testing::SizeIs(2));
  EXPECT_TRUE(notes.has_failures());
  EXPECT_FALSE(notes.replayed().stands()) << "the next cook would fail, too";
}

TEST(CookNotesTest, AWarningIsLeftOutOrAnErrorAsTheProjectSays) {
  FakeListener told;
  CookNotes notes(told);
  notes.SetWarningRules([](const std::string& package) {
    record::WarningRules rules;
    const auto set = [](auto& kinds, record::WarningKind kind) {
      kinds.set(static_cast<size_t>(kind));
    };
    set(rules.off, record::WarningKind::kStraySidecar);
    set(package == "/Game/a.png" ? rules.error : rules.off, record::WarningKind::kAudioFile);
    return rules;
  });
  notes.Warn(record::WarningKind::kStraySidecar, "no effect");
  notes.Tell(
      CookEvent::Warned{"/Game/b.png", "", {record::WarningKind::kAudioFile, "cut off"}, true});
  EXPECT_THAT(told.lines, ElementsAre());
  EXPECT_TRUE(notes.replayed().warnings().empty());
  EXPECT_TRUE(notes.replayed().stands());
  notes.Tell(CookEvent::Warned{"/Game/a.png", "pc", {record::WarningKind::kAudioFile, "cut off"}});
  EXPECT_THAT(told.lines,
              ElementsAre("failed /Game/a.png pc: cut off [audio-file], which is an error here "
                          "([warnings] error)"));
  EXPECT_TRUE(notes.has_failures());
}

TEST(CookNotesTest, AWarningOfAResultThatIsAnErrorIsTheCoresToTell) {
  FakeListener told;
  CookNotes notes(told);
  notes.SetWarningRules([](const std::string&) {
    record::WarningRules rules;
    rules.error.set(static_cast<size_t>(record::WarningKind::kOther));
    return rules;
  });
  notes.Tell(Done("/Game/a.png", "1", ResultSource::kCached));
  EXPECT_THAT(told.lines, ElementsAre("done /Game/a.png windows"));
}

TEST(CookNotesTest, TheFirstResultThatWasCookedHasItsTime) {
  FakeListener told;
  CookNotes notes(told);
  notes.Tell(Done("/Game/a.png", "1", ResultSource::kCached));
  EXPECT_EQ(notes.first_cooked(), absl::InfiniteFuture());
  notes.Tell(Done("/Game/b.png", "1", ResultSource::kCooked));
  EXPECT_LT(notes.first_cooked(), absl::InfiniteFuture());
}

TEST(CookNotesTest, FailuresAreCountedByPlatform) {
  FakeListener told;
  CookNotes notes(told);
  EXPECT_FALSE(notes.has_failures());
  notes.Tell(CookEvent::Failed{"/Game/b.png", "windows", {.error = "truncated"}});
  notes.Tell(CookEvent::Failed{"/Game/b.png", "android", {.error = "truncated"}});
  notes.Tell(CookEvent::Failed{"/Game/a.png", "", {.error = "no such file"}});
  notes.Tell(CookEvent::Failed{"", "windows", {.error = "its sandbox is full"}});
  EXPECT_TRUE(notes.has_failures());
  EXPECT_THAT(notes.FailedPackages(), ElementsAre("/Game/a.png", "/Game/b.png"));
  EXPECT_EQ(notes.CountFailedOn("windows"), 2u);
  EXPECT_EQ(notes.CountFailedOn("linux"), 1u);
  EXPECT_THAT(
      told.lines,
      ElementsAre("failed /Game/b.png windows: truncated", "failed /Game/b.png android: truncated",
                  "failed /Game/a.png : no such file", "failed  windows: its sandbox is full"));
}

TEST(CookNotesTest, TheDigestIsOfWhatIsDoneInWhateverOrder) {
  FakeListener told;
  CookNotes one(told), other(told), none(told);
  for (const char* package : {"/Game/a.png", "/Game/b.png"})
    one.Tell(Done(package, "1", ResultSource::kCooked));
  for (const char* package : {"/Game/b.png", "/Game/a.png"})
    other.Tell(Done(package, "1", ResultSource::kCached));
  EXPECT_EQ(DigestOfDone(one.done()), DigestOfDone(other.done()));
  EXPECT_EQ(DigestOfDone(none.done()), Digest::Of(""));
}

}  // namespace
}  // namespace galley::director
