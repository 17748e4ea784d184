#include "director/resident/cook_wire.h"

#include <string>
#include <vector>

#include "director/resident/event_wire.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using google::protobuf::util::MessageDifferencer;
using testing::ElementsAre;

// Sets every field of a message, each to another value, so that one that a conversion leaves out is
// seen.
void Fill(google::protobuf::Message& message, uint32_t& next) {
  const auto& descriptor = *message.GetDescriptor();
  const auto& fields = *message.GetReflection();
  for (int i = 0; i < descriptor.field_count(); ++i) {
    const google::protobuf::FieldDescriptor* field = descriptor.field(i);
    using Type = google::protobuf::FieldDescriptor::CppType;
    ++next;
    const std::string text = field->name() + std::to_string(next);
    if (field->is_map()) continue;  // set by hand
    if (field->is_repeated()) {
      if (field->cpp_type() == Type::CPPTYPE_STRING) fields.AddString(&message, field, text);
      continue;
    }
    switch (field->cpp_type()) {
      case Type::CPPTYPE_STRING:
        fields.SetString(&message, field, text);
        break;
      case Type::CPPTYPE_BOOL:
        fields.SetBool(&message, field, true);
        break;
      case Type::CPPTYPE_UINT64:
        fields.SetUInt64(&message, field, next);
        break;
      case Type::CPPTYPE_INT64:
        fields.SetInt64(&message, field, next);
        break;
      case Type::CPPTYPE_UINT32:
        fields.SetUInt32(&message, field, next);
        break;
      case Type::CPPTYPE_INT32:
        fields.SetInt32(&message, field, 3);  // an error code
        break;
      case Type::CPPTYPE_DOUBLE:
        fields.SetDouble(&message, field, next);
        break;
      case Type::CPPTYPE_MESSAGE:
        Fill(*fields.MutableMessage(&message, field), next);
        break;
      default:
        FAIL() << "a field of a type that Fill does not know: " << field->full_name();
    }
  }
}

std::string Diff(const google::protobuf::Message& one, const google::protobuf::Message& other) {
  std::string text;
  MessageDifferencer differencer;
  differencer.ReportDifferencesToString(&text);
  differencer.Compare(one, other);
  return text;
}

project::Project ProjectOf(const std::vector<std::string>& platforms) {
  project::Project project;
  for (const std::string& name : platforms) project.platforms.push_back({.name = name});
  return project;
}

TEST(CookWireTest, EveryFieldOfAReportSurvives) {
  v1::CookReport report;
  uint32_t next = 0;
  Fill(report, next);
  report.set_snapshot(Digest::Of("s").ToString());
  (*report.mutable_sequences())["a"] = 4;
  (*report.mutable_outcome()->mutable_roots())["a"] = Digest::Of("root").ToString();
  const auto read = FromWire(report);
  ASSERT_TRUE(read.ok()) << read.status();
  v1::CookReport again;
  ToWire(*read, again);
  EXPECT_EQ(Diff(report, again), "");
  EXPECT_TRUE(absl::IsInvalidArgument(read->report.end));
}

TEST(CookWireTest, AReportWithoutAnOutcomeHasNone) {
  v1::CookReport report;
  ToWire({.report = {.end = absl::CancelledError("interrupted")}}, report);
  EXPECT_FALSE(report.has_outcome());
  const auto read = FromWire(report);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_FALSE(read->report.outcome.has_value());
  EXPECT_EQ(read->report.end, absl::CancelledError("interrupted"));
}

TEST(CookWireTest, AReportWithADigestThatIsNoneIsRefused) {
  EXPECT_FALSE(FromWire(v1::CookReport()).ok());
}

TEST(CookWireTest, EveryFieldOfAnAskSurvives) {
  v1::CookAsk ask;
  uint32_t next = 0;
  Fill(ask, next);
  ask.set_urgency_class("commit");
  ask.set_umask(027);
  ask.mutable_platforms()->Clear();
  ask.add_platforms("b");
  const auto read = FromWire(ask, ProjectOf({"a", "b", "c"}));
  ASSERT_TRUE(read.ok()) << read.status();
  v1::CookAsk again;
  ToWire(*read, again);
  // The caller's, not the cook's.
  again.set_is_detached(ask.is_detached());
  again.set_wants_trace(ask.wants_trace());
  again.set_environment_salt(ask.environment_salt());
  again.set_is_from_afar(ask.is_from_afar());
  again.set_asked_by(ask.asked_by());
  again.set_summary_file(ask.summary_file());
  again.set_trace_file(ask.trace_file());
  EXPECT_EQ(Diff(ask, again), "");
}

TEST(CookWireTest, AnAskNamesAllPlatformsOrThoseThatThereAre) {
  v1::CookAsk ask;
  ask.set_urgency_class("now");
  EXPECT_TRUE(FromWire(ask, ProjectOf({"a", "b"}))->platforms.empty());
  ask.add_platforms("z");
  EXPECT_TRUE(absl::IsInvalidArgument(FromWire(ask, ProjectOf({"a"})).status()));
  ask.Clear();
  ask.set_urgency_class("someday");
  EXPECT_TRUE(absl::IsInvalidArgument(FromWire(ask, ProjectOf({"a"})).status()));
}

TEST(CookWireTest, AFewWordsSayWhatIsAsked) {
  v1::CookAsk ask;
  EXPECT_EQ(WhatIsAsked(ask), "by the book");
  ask.mutable_selection()->add_packages("/Game/a.png");
  EXPECT_EQ(WhatIsAsked(ask), "/Game/a.png");
  ask.mutable_selection()->add_positional("/Game/b.png");
  EXPECT_EQ(WhatIsAsked(ask), "/Game/b.png and 1 more");
}

// A listener that writes calls down, and another at the other end of the wire: both must hear the
// same.
struct Heard final : CookListener {
  void Say(std::string_view text) override { calls.push_back("say " + std::string(text)); }
  void SayAlways(std::string_view text) override {
    calls.push_back("say always " + std::string(text));
  }
  void Scanned(const ScanCounts& scan) override {
    calls.push_back(fmt::format("scanned {} {} {} {}", scan.files, scan.packages, scan.unmatched,
                                scan.seconds));
  }
  void Stands(const StandCounts& counts) override {
    calls.push_back(fmt::format("stands {} {} {} {}", counts.packages, counts.failed,
                                counts.results, counts.seconds));
  }
  void OnFailed(const std::string& package, const std::string& platform,
                const PackageFailed& failed) override {
    calls.push_back(fmt::format("failed {} {} {} {} {} {} {} {} {} {}", package, platform,
                                StageName(failed.stage), failed.error, failed.log,
                                FailureCauseName(failed.cause), failed.attempt, failed.attempts,
                                failed.own_faults, failed.infrastructure_faults));
  }
  void OnWarning(const std::string& package, const std::string& platform,
                 const record::Warning& warning) override {
    calls.push_back(fmt::format("warned {} {} {}", package, platform, warning.ToText()));
  }
  void OnDone(const StoredResult& result, ResultSource source) override {
    calls.push_back(fmt::format("done {} {} {}", result.package, result.platform_name,
                                static_cast<int>(source)));
  }
  void OnLeft(const std::string& package) override { calls.push_back("left " + package); }
  void OnPlatforms(const std::vector<std::string>& platforms) override {
    calls.push_back(fmt::format("platforms {}", fmt::join(platforms, " ")));
  }
  void OnProgress(const Counters& counters, const Progress& progress) override {
    calls.push_back(fmt::format(
        "progress {} {} {} {} {} {} {} {} {} {} {} {}", counters.in_cook, counters.results_wanted,
        progress.packages[1][2], progress.packages[4][3], progress.results_per_second,
        progress.cooked_per_second, progress.to_cook, progress.unknown, progress.pending,
        progress.left ? absl::FormatDuration(*progress.left) : "none", progress.longest,
        absl::FormatDuration(progress.longest_for) + (progress.is_alone ? " alone" : "")));
  }
  std::vector<std::string> calls;
};

TEST(EventWireTest, EachCallOfAListenerArrivesAtTheOtherEnd) {
  Heard here, there;
  EventSource source({.event = [&](const v1::CookEvent& event) { TellListener(event, there); },
                      .progress =
                          [&](const v1::CookProgress& progress) {
                            v1::CookEvent event;
                            *event.mutable_progress() = progress;
                            TellListener(event, there);
                          },
                      .remote_down = [] { return std::string("down since 14:05"); }});
  StoredResult result;
  result.package = "/Game/a.png";
  result.platform_name = "android";
  Progress progress{.results_per_second = 1.5,
                    .cooked_per_second = 0.5,
                    .to_cook = 3,
                    .unknown = 4,
                    .pending = 5,
                    .left = absl::Seconds(90),
                    .longest = "/Game/b.png",
                    .longest_for = absl::Milliseconds(1234),
                    .is_alone = true};
  progress.packages[1][2] = 8;
  progress.packages[4][3] = 9;
  for (CookListener* listener :
       {static_cast<CookListener*>(&here), static_cast<CookListener*>(&source)}) {
    listener->Say("staged");
    listener->SayAlways("waiting");
    listener->Scanned({.files = 1, .packages = 2, .unmatched = 3, .seconds = 0.25});
    listener->Stands({.packages = 1, .failed = 3, .results = 2, .seconds = 0.5});
    listener->OnFailed("/Game/a.png", "",
                       {.stage = Stage::kSave,
                        .error = "bad",
                        .log = "log",
                        .cause = FailureCause::kUnread,
                        .attempt = 1ull << 50,
                        .attempts = 2,
                        .own_faults = 3,
                        .infrastructure_faults = 4});
    listener->OnWarning("/Game/a.png", "android", {record::WarningKind::kMeshFile, "odd"});
    listener->OnLeft("/Game/b.png");
    listener->OnPlatforms({"android", "deck"});
    listener->Warn(record::WarningKind::kJournal, "of no package");
    for (const ResultSource from :
         {ResultSource::kCooked, ResultSource::kCached, ResultSource::kUpToDate})
      listener->OnDone(result, from);
    listener->OnProgress({.in_cook = 6, .results_wanted = 7}, progress);
    listener->OnProgress({}, {});
  }
  EXPECT_EQ(here.calls.size(), 14u);
  EXPECT_EQ(here.calls, there.calls);
}

TEST(EventWireTest, EveryCounterSurvives) {
  v1::CookCounters counters, again;
  uint32_t next = 0;
  Fill(counters, next);
  ToWire(FromWire(counters), again);
  EXPECT_EQ(Diff(counters, again), "");
}

}  // namespace
}  // namespace galley::director
