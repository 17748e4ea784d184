#include "director/host/standing_facts.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <set>

#include "common/base/file.h"

namespace galley::director {
namespace {

TEST(TextOfAskTest, AsksThatMayComeToSomethingElseDiffer) {
  const project::Project project;
  std::vector<v1::CookAsk> asks(14);
  asks[1].mutable_selection()->add_positional("a");
  asks[2].mutable_selection()->add_maps("a");
  asks[3].mutable_selection()->add_packages("a");
  asks[4].mutable_selection()->add_directories("a");
  asks[5].mutable_selection()->add_map_sections("a");
  asks[6].mutable_selection()->add_cultures("a");
  asks[7].mutable_selection()->add_never("a");
  asks[8].mutable_selection()->set_no_soft_references(true);
  asks[9].add_platforms("a");
  asks[10].set_no_stage(true);
  asks[11].set_exact(true);
  asks[12].set_fail_fast(true);
  asks[13].set_umask(077);
  std::set<std::string> texts;
  for (const v1::CookAsk& ask : asks) texts.insert(TextOfAsk(ask, project).value());
  EXPECT_EQ(texts.size(), asks.size());
  project::Project elsewhere;
  elsewhere.output_directory = "/out";
  EXPECT_FALSE(texts.contains(TextOfAsk(asks[0], elsewhere).value()));
  v1::CookAsk two;
  two.mutable_selection()->add_never("a");
  two.mutable_selection()->add_never("b");
  v1::CookAsk one;
  one.mutable_selection()->add_never("a\nnever 1:b");
  EXPECT_NE(TextOfAsk(two, project), TextOfAsk(one, project));
}

// Sets each field of `message` in turn, and calls `see` with its full name.
void ForEachField(v1::CookAsk& ask, google::protobuf::Message& message,
                  const std::function<void(const std::string& name)>& see) {
  const google::protobuf::Reflection& fields = *message.GetReflection();
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const google::protobuf::FieldDescriptor* field = message.GetDescriptor()->field(i);
    using Type = google::protobuf::FieldDescriptor::CppType;
    if (!field->is_repeated() && field->cpp_type() == Type::CPPTYPE_MESSAGE) {
      ForEachField(ask, *fields.MutableMessage(&message, field), see);
      continue;
    }
    if (field->is_repeated() && field->cpp_type() == Type::CPPTYPE_MESSAGE) {
      fields.AddMessage(&message, field);
    } else if (field->is_repeated()) {
      fields.AddString(&message, field, "a");
    } else if (field->cpp_type() == Type::CPPTYPE_STRING) {
      fields.SetString(&message, field, "a");
    } else if (field->cpp_type() == Type::CPPTYPE_UINT32) {
      fields.SetUInt32(&message, field, 7);
    } else {
      fields.SetBool(&message, field, true);
    }
    see(field->full_name());
    fields.ClearField(&message, field);
  }
}

// A new field of an ask fails here until somebody decides what the field decides.
TEST(TextOfAskTest, OnlyWhatDecidesNothingIsNotInIt) {
  const std::set<std::string> decides_nothing = {
      "adopt",         "output_directory",    "urgency_class", "is_detached",  "wants_trace",
      "configuration", "environment",         "changed_since", "is_from_afar", "environment_salt",
      "paths",         "environment_digests", "summary_file",  "trace_file",   "asked_by"};
  v1::CookAsk ask;
  size_t seen = 0;
  ForEachField(ask, ask, [&](const std::string& name) {
    const bool decides = TextOfAsk(ask, {}) != TextOfAsk(v1::CookAsk(), {});
    EXPECT_EQ(decides, !decides_nothing.contains(name.substr(name.rfind('.') + 1))) << name;
    seen += !decides;
  });
  EXPECT_EQ(seen, decides_nothing.size());
}

TEST(TextOfAskTest, ACookThatIsToDoThingsAnewIsNeverAnswered) {
  for (const auto set :
       {&v1::CookAsk::set_force, &v1::CookAsk::set_retry_failed, &v1::CookAsk::set_repair}) {
    v1::CookAsk ask;
    (ask.*set)(true);
    EXPECT_FALSE(TextOfAsk(ask, {}).has_value());
  }
}

TEST(FactsTest, ProjectFileValuesAndCookersAreInThem) {
  project::Project project;
  project.root = "/game";
  project.origins = {{"store.dir", "/s", "default"}, {"farm.workers", "4", "default"}};
  const Facts facts = FactsOf(project, {.json = "[]", .build = "1"}).value();
  EXPECT_EQ(DifferingFact(facts, FactsOf(project, {.json = "[]", .build = "1"}).value()), "");
  EXPECT_EQ(DifferingFact(facts, FactsOf(project, {.json = "[]", .build = "2"}).value()),
            "the cookers");
  EXPECT_EQ(DifferingFact(facts, FactsOf(project, {.json = "[1]", .build = "1"}).value()),
            "the cookers");
  const auto differs = [&](auto change) {
    project::Project other = project;
    change(other);
    return DifferingFact(facts, FactsOf(other, {.json = "[]", .build = "1"}).value());
  };
  EXPECT_EQ(differs([](auto& other) { other.file_digest = Digest::Of("x"); }), "galley.toml");
  EXPECT_EQ(differs([](auto& other) { other.but_rules = Digest::Of("x"); }),
            "galley.toml, beside its rules");
  EXPECT_EQ(differs([](auto& other) { other.root = "/x"; }), "the project's folder");
  EXPECT_EQ(differs([](auto& other) { other.output_directory = "/x"; }), "the output folder");
  EXPECT_EQ(differs([](auto& other) { other.origins[0].value = "/x"; }), "the value store.dir");
  EXPECT_EQ(differs([](auto& other) { other.origins[1].value = "8"; }), "");
}

ObservedValues Observed(record::ObservationKind kind, const std::string& subject,
                        const std::string& value) {
  ObservedValues observed;
  observed.Note({{.what = {kind, subject, ""}, .value = value}});
  return observed;
}

TEST(EnvironmentFactsTest, ValuesAreComparedAsTheyAreObserved) {
  project::Project project;
  project.farm.environment = {"X"};
  const Facts facts = EnvironmentFacts(Observed(record::ObservationKind::kEnv, "X", "=1"));
  EXPECT_EQ(facts, EnvironmentNow(facts, project, {{"X", "1"}, {"Y", "2"}}));
  EXPECT_NE(facts, EnvironmentNow(facts, project, {{"X", ""}}));
  EXPECT_NE(facts, EnvironmentNow(facts, project, {}));
  const Facts unset = EnvironmentFacts(Observed(record::ObservationKind::kEnv, "X", "unset"));
  EXPECT_EQ(unset, EnvironmentNow(unset, project, {}));
  EXPECT_NE(unset, EnvironmentNow(unset, project, {{"X", "unset"}}));
  project.farm.environment.clear();  // cooks can no longer ask for it
  EXPECT_NE(facts, EnvironmentNow(facts, project, {{"X", "1"}}));
  EXPECT_EQ(unset, EnvironmentNow(unset, project, {{"X", "1"}}));
}

TEST(ObservedValuesTest, TwoValuesOfOneToolAreAConflict) {
  ObservedValues observed = Observed(record::ObservationKind::kTool, "t", "a");
  EXPECT_FALSE(observed.has_conflict());
  observed.Note({{.what = {record::ObservationKind::kTool, "t", ""}, .value = "a"}});
  EXPECT_FALSE(observed.has_conflict());
  observed.Note({{.what = {record::ObservationKind::kTool, "t", ""}, .value = "b"}});
  EXPECT_TRUE(observed.has_conflict());
}

TEST(StandingToolTest, AToolIsHeldByItsStampElseByItsBytes) {
  const std::string dir = *MakeTemporaryDirectory(testing::TempDir(), "standing_tool_");
  const std::string path = JoinPath(dir, "tool");
  ASSERT_TRUE(WriteFileAtomic(path, "1").ok());
  const auto observed =
      Observed(record::ObservationKind::kTool, "tool", Digest::Of("1").ToString());
  StandingTool tool = ToolsOf(observed, dir).value().at(0);
  EXPECT_EQ(tool.path, path);
  ASSERT_TRUE(WriteFileAtomic(path, "1").ok());
  EXPECT_EQ(LookAgain(tool), "");
  ASSERT_TRUE(WriteFileAtomic(path, "2").ok());
  EXPECT_NE(LookAgain(tool), "");
  EXPECT_TRUE(absl::IsFailedPrecondition(ToolsOf(observed, dir).status()));
  std::filesystem::remove(path);
  EXPECT_NE(LookAgain(tool), "");
  StandingTool absent =
      ToolsOf(Observed(record::ObservationKind::kTool, "tool", "absent"), dir).value().at(0);
  EXPECT_EQ(LookAgain(absent), "");
  ASSERT_TRUE(WriteFileAtomic(path, "2").ok());
  EXPECT_NE(LookAgain(absent), "");
  EXPECT_TRUE(RemoveAll(dir).ok());
}

}  // namespace
}  // namespace galley::director
