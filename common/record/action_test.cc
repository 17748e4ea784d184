#include "common/record/action.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "build/bazel/remote/execution/v2/remote_execution.pb.h"
#include "common/record/testing/sample.h"
#include "common/tree/testing/golden.h"
#include "common/tree/tree.h"

namespace galley::record {
namespace {

namespace reapi = build::bazel::remote::execution::v2;
using testing::HasSubstr;

std::string InputRootText(const Action& action) {
  std::string text;
  for (const InputFile& file : action.files) {
    text += fmt::format("{} {}{}\n", file.digest.ToString(), file.path,
                        file.is_executable ? " (executable)" : "");
  }
  return text;
}

TEST(ActionTest, EverythingIsTheGolden) {
  const auto action = BuildAction(SampleInputs());
  ASSERT_TRUE(action.ok()) << action.status();
  ExpectGolden("common/record/testdata/action.hex", HexLines(action->action));
  ExpectGolden("common/record/testdata/command.hex", HexLines(action->command));
  ExpectGolden("common/record/testdata/input_root.txt", InputRootText(*action));
  ExpectGolden("common/record/testdata/action_key.txt", action->key.ToString() + "\n");
}

TEST(ActionTest, ProtobufReadsAndWritesTheSameBytes) {
  const Action action = *BuildAction(SampleInputs());
  reapi::Action message;
  ASSERT_TRUE(message.ParseFromString(action.action));
  EXPECT_EQ(message.SerializeAsString(), action.action);
  EXPECT_EQ(message.salt(), "main");
  EXPECT_EQ(message.command_digest().hash(), Digest::Of(action.command).hex());
  EXPECT_EQ(message.input_root_digest().hash(), Digest::Of(action.directories.back()).hex());
  reapi::Command command;
  ASSERT_TRUE(command.ParseFromString(action.command));
  EXPECT_EQ(command.SerializeAsString(), action.command);
  EXPECT_EQ(command.arguments(1), "shader");
  EXPECT_EQ(command.environment_variables(1).name(), "TZ");
  EXPECT_EQ(command.output_paths(0), "out");
  for (const std::string& bytes : action.directories) {
    reapi::Directory directory;
    ASSERT_TRUE(directory.ParseFromString(bytes));
    EXPECT_EQ(directory.SerializeAsString(), bytes);
  }
}

TEST(ActionTest, TheInputRootHoldsExactlyTheFiles) {
  const Action action = *BuildAction(SampleInputs());
  std::map<Digest, std::string> folders;
  for (const std::string& bytes : action.directories) {
    const tree::Directory directory = *tree::DecodeDirectory(bytes);
    for (const tree::DirectoryNode& child : directory.directories) {
      EXPECT_TRUE(folders.contains(child.digest)) << "children come first";
    }
    EXPECT_TRUE(folders.emplace(Digest::Of(bytes), bytes).second);
  }
  const auto listed = tree::ListTree(
      Digest::Of(action.directories.back()),
      [&](const Digest& digest) -> absl::StatusOr<Blob> { return MakeBlob(folders.at(digest)); });
  ASSERT_TRUE(listed.ok()) << listed.status();
  ASSERT_EQ(listed->size(), action.files.size());
  for (size_t i = 0; i < action.files.size(); ++i) {
    EXPECT_EQ((*listed)[i], (tree::TreeFile{action.files[i].path, action.files[i].digest,
                                            action.files[i].is_executable}));
    if (action.files[i].bytes) {
      EXPECT_EQ(Digest::Of(*action.files[i].bytes), action.files[i].digest);
    }
  }
}

TEST(ActionTest, FilesLieWhereTheHeaderSays) {
  const auto path = [](ObservationKind kind, const char* subject) {
    return InputPath({kind, subject, ""}, 7);
  };
  EXPECT_EQ(path(ObservationKind::kFile, "a/b"), "rel/0/a/b");
  EXPECT_EQ(path(ObservationKind::kFile, "../../a/b"), "rel/2/a/b");
  EXPECT_EQ(path(ObservationKind::kFile, "..a/b"), "rel/0/..a/b");
  EXPECT_EQ(path(ObservationKind::kFile, "/Game/a"), "abs/Game/a");
  EXPECT_EQ(path(ObservationKind::kCooked, "/Game/a"), "cooked/7");
  EXPECT_EQ(path(ObservationKind::kTool, "tools/x"), "tools/tools/x");
  EXPECT_EQ(path(ObservationKind::kTool, "../sdk/x"), "tools-up/1/sdk/x");
  EXPECT_EQ(path(ObservationKind::kTool, "/usr/bin/x"), "");
  EXPECT_EQ(path(ObservationKind::kEnv, "X"), "");
}

TEST(ActionTest, TheKeyIsTheDigestOfTheAction) {
  const Action action = *BuildAction(SampleInputs());
  EXPECT_EQ(action.key, Digest::Of(action.action));
  EXPECT_EQ(*ActionKey(SampleInputs()), action.key);
}

TEST(ActionTest, AnyChangeOfAnyInputChangesTheKey) {
  std::set<Digest> keys;
  const auto add = [&](const std::function<void(ActionInputs&)>& change) {
    ActionInputs inputs = SampleInputs();
    change(inputs);
    const auto key = ActionKey(inputs);
    ASSERT_TRUE(key.ok()) << key.status();
    EXPECT_TRUE(keys.insert(*key).second);
  };
  add([](ActionInputs&) {});
  add([](ActionInputs& i) { i.recipe.cooker = "copy"; });
  add([](ActionInputs& i) { i.recipe.identity = "2"; });
  add([](ActionInputs& i) { i.recipe.extension = "vert"; });
  add([](ActionInputs& i) { i.recipe.settings = "{}"; });
  add([](ActionInputs& i) { i.source = Digest::Of("x"); });
  add([](ActionInputs& i) { i.trust_domain = "other"; });
  add([](ActionInputs& i) { i.trust_domain = ""; });
  const std::string other_values[] = {"absent", "folder", "folder", "file",   "absent", "b.level\n",
                                      "absent", "=x",     "absent", "absent", "=",      "/Game/b"};
  for (size_t n = 0; n < SampleObserved().size(); ++n) {
    add([&](ActionInputs& i) { i.observed[n].value = other_values[n]; });
    add([&](ActionInputs& i) {
      i.observed.erase(i.observed.begin() + static_cast<std::ptrdiff_t>(n));
    });
  }
  EXPECT_EQ(keys.size(), 32u);
}

TEST(ActionTest, TheKeyKnowsNoPlaceUnlessItWasAskedFor) {
  ActionInputs inputs = SampleInputs();
  inputs.observed.pop_back();  // name()
  const Action action = *BuildAction(inputs);
  for (const std::string& bytes : {action.action, action.command})
    EXPECT_THAT(bytes, Not(HasSubstr("/Game/shaders")));
  for (const InputFile& file : action.files) {
    EXPECT_THAT(file.path, Not(HasSubstr("sky.frag")));
    if (file.bytes) {
      EXPECT_THAT(*file.bytes, Not(HasSubstr("/Game/shaders")));
    }
  }
}

std::string Refusal(const std::vector<Observed>& observed) {
  ActionInputs inputs = SampleInputs();
  inputs.observed = observed;
  const auto action = BuildAction(inputs);
  EXPECT_EQ(action.status().code(), absl::StatusCode::kInvalidArgument);
  return action.status().ToString();
}

TEST(ActionTest, ObservationsThatContradictEachOtherAreRefused) {
  const std::string digest = Digest::Of("x").ToString();
  EXPECT_THAT(Refusal({{{ObservationKind::kFile, "a", ""}, digest},
                       {{ObservationKind::kFile, "a/b", ""}, digest}}),
              HasSubstr("rel/0/a and rel/0/a/b"));
  EXPECT_THAT(Refusal({{{ObservationKind::kFile, "b", ""}, digest},
                       {{ObservationKind::kFile, "a", ""}, digest}}),
              HasSubstr("canonical order"));
  EXPECT_THAT(Refusal({{{ObservationKind::kFile, "a", ""}, digest},
                       {{ObservationKind::kFile, "a", ""}, "absent"}}),
              HasSubstr("canonical order"));
}

TEST(ActionTest, FilesThatDifferInCaseOnlyAreNoContradiction) {
  ActionInputs inputs = SampleInputs();
  const std::string digest = Digest::Of("x").ToString();
  inputs.observed = {{{ObservationKind::kFile, "A", ""}, digest},
                     {{ObservationKind::kFile, "a", ""}, digest}};
  EXPECT_TRUE(BuildAction(inputs).ok());
}

TEST(ActionTest, AMalformedValueIsNamedWithWhatWasExpected) {
  struct Case {
    ObservationKind kind;
    const char* value;
    const char* expected;
  };
  const Case cases[] = {
      {ObservationKind::kFile, "x", "a digest, absent or folder"},
      {ObservationKind::kFile, "", "a digest, absent or folder"},
      {ObservationKind::kExists, "yes", "file, folder or absent"},
      {ObservationKind::kList, "b\na\n", "sorted names"},
      {ObservationKind::kList, "a\na\n", "sorted names"},
      {ObservationKind::kList, "\n", "sorted names"},
      {ObservationKind::kGlob, "b\na", "sorted paths"},
      {ObservationKind::kCooked, "folder", "a digest or absent"},
      {ObservationKind::kPlatform, "x", "unset or ="},
      {ObservationKind::kTool, "folder", "a digest or absent"},
      {ObservationKind::kEnv, "", "unset or ="},
      {ObservationKind::kName, "x", "a virtual path"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(Refusal({{{c.kind, "subject", ""}, c.value}}),
                AllOf(HasSubstr(c.expected), HasSubstr("(subject)")));
  }
}

TEST(ActionTest, APathThatIsNotNormalIsRefused) {
  const std::string digest = Digest::Of("x").ToString();
  for (const char* subject : {"", ".", "..", "a/../b", "./a", "a//b", "a/", "/", "//a", "/a/..",
                              "a\\b", "a\nb", "\xff"}) {
    EXPECT_THAT(Refusal({{{ObservationKind::kFile, subject, ""}, digest}}),
                HasSubstr("normal form"))
        << subject;
  }
}

}  // namespace
}  // namespace galley::record
