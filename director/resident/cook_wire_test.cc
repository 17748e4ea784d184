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

// Sets every field of a message, each to another value, so that a field which a conversion leaves
// out is noticed.
void Fill(google::protobuf::Message& message, uint32_t& next) {
  const auto& descriptor = *message.GetDescriptor();
  const auto& fields = *message.GetReflection();
  for (int i = 0; i < descriptor.field_count(); ++i) {
    const google::protobuf::FieldDescriptor* field = descriptor.field(i);
    using Type = google::protobuf::FieldDescriptor::CppType;
    ++next;
    const std::string text = field->name() + std::to_string(next);
    if (field->is_map()) continue;  // the test sets maps by hand
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
  EXPECT_TRUE(absl::IsInvalidArgument(read->end));
}

TEST(CookWireTest, AReportWithoutAnOutcomeHasNone) {
  v1::CookReport report;
  ToWire({.end = absl::CancelledError("interrupted")}, report);
  EXPECT_FALSE(report.has_outcome());
  const auto read = FromWire(report);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_FALSE(read->outcome.has_value());
  EXPECT_EQ(read->end, absl::CancelledError("interrupted"));
}

TEST(CookWireTest, AReportWithADigestThatIsNoneIsRefused) {
  EXPECT_FALSE(FromWire(v1::CookReport()).ok());
}

// Heard: a sink that writes events down. Another Heard is at the other end of the wire, and must
// get the same events.
struct Heard final : CookEventSink {
  void TakeEvent(const CookEvent& event) override {
    std::visit([this](const auto& what) { calls.push_back(TextOf(what)); }, event.what);
  }
  static std::string TextOf(const CookEvent::Said& said) {
    return (said.is_always_told ? "say always " : "say ") + said.text;
  }
  static std::string TextOf(const CookEvent::Scanned& scan) {
    return fmt::format("scanned {} {} {} {}", scan.files, scan.packages, scan.unmatched,
                       scan.seconds);
  }
  static std::string TextOf(const CookEvent::Stands& counts) {
    return fmt::format("stands {} {} {} {}", counts.packages, counts.failed, counts.results,
                       counts.seconds);
  }
  static std::string TextOf(const CookEvent::Failed& told) {
    const PackageFailed& failed = told.failure;
    return fmt::format("failed {} {} {} {} {} {} {} {} {} {}", told.package, told.platform,
                       StageName(failed.stage), failed.error, failed.log,
                       FailureCauseName(failed.cause), failed.attempt, failed.attempts,
                       failed.own_faults, failed.infrastructure_faults);
  }
  static std::string TextOf(const CookEvent::Warned& warned) {
    return fmt::format("warned {} {} {}", warned.package, warned.platform, warned.warning.ToText());
  }
  static std::string TextOf(const CookEvent::Done& done) {
    return fmt::format("done {} {} {}", done.result->package, done.result->platform_name,
                       static_cast<int>(done.source));
  }
  static std::string TextOf(const CookEvent::Left& left) { return "left " + left.package; }
  static std::string TextOf(const CookEvent::Platforms& platforms) {
    return fmt::format("platforms {}", fmt::join(platforms.names, " "));
  }
  static std::string TextOf(const CookEvent::Progressed& progressed) {
    const auto& [counters, progress, remote_down] = progressed;
    return fmt::format(
        "progress {} {} {} {} {} {} {} {} {} {} {} {}", counters.in_cook, counters.results_wanted,
        progress.packages[1][2], progress.packages[4][3], progress.results_per_second,
        progress.cooked_per_second, progress.to_cook, progress.unknown, progress.pending,
        progress.left ? absl::FormatDuration(*progress.left) : "none", progress.longest,
        absl::FormatDuration(progress.longest_for) + (progress.is_alone ? " alone" : "") +
            remote_down);
  }
  std::vector<std::string> calls;
};

// WireEnd: sends each event over the wire to `there`.
struct WireEnd final : CookEventSink {
  explicit WireEnd(CookEventSink& other) : there(other) {}
  void TakeEvent(const CookEvent& event) override { there.TakeEvent(*FromWire(ToWire(event))); }
  CookEventSink& there;
};

TEST(EventWireTest, EachEventArrivesAtTheOtherEnd) {
  Heard here, there;
  WireEnd wire(there);
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
  for (CookEventSink* sink :
       {static_cast<CookEventSink*>(&here), static_cast<CookEventSink*>(&wire)}) {
    sink->Say("staged");
    sink->SayAlways("waiting");
    sink->Tell(CookEvent::Scanned{.files = 1, .packages = 2, .unmatched = 3, .seconds = 0.25});
    sink->Tell(CookEvent::Stands{.packages = 1, .failed = 3, .results = 2, .seconds = 0.5});
    sink->Tell(CookEvent::Failed{"/Game/a.png",
                                 "",
                                 {.stage = Stage::kSave,
                                  .error = "bad",
                                  .log = "log",
                                  .cause = FailureCause::kUnread,
                                  .attempt = 1ull << 50,
                                  .attempts = 2,
                                  .own_faults = 3,
                                  .infrastructure_faults = 4}});
    sink->Tell(
        CookEvent::Warned{"/Game/a.png", "android", {record::WarningKind::kMeshFile, "odd"}});
    sink->Tell(CookEvent::Left{"/Game/b.png"});
    sink->Tell(CookEvent::Platforms{{"android", "deck"}});
    sink->Warn(record::WarningKind::kJournal, "of no package");
    for (const ResultSource from :
         {ResultSource::kCooked, ResultSource::kCached, ResultSource::kUpToDate})
      sink->Tell(CookEvent::Done{std::make_shared<StoredResult>(result), from});
    sink->Tell(
        CookEvent::Progressed{{.in_cook = 6, .results_wanted = 7}, progress, " down since 14:05"});
    sink->Tell(CookEvent::Progressed{{}, {}});
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
