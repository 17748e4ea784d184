#include "common/project/project.h"

#include <gmock/gmock.h>

#include "common/base/file.h"
#include "fmt/format.h"

namespace galley::project {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kMinimal = R"(
[[mount]]
path = "/Game"
dir = "content"
[[platform]]
name = "windows"
)";

class ProjectTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = MakeTemporaryDirectory(testing::TempDir(), "project_test_");
    ASSERT_TRUE(made.ok()) << made.status();
    dir_ = *made;
    ASSERT_TRUE(CreateDirectories(JoinPath(dir_, "content")).ok());
    options_.directory = dir_;
  }
  void TearDown() override { EXPECT_TRUE(RemoveAll(dir_).ok()); }

  void Write(std::string_view path, std::string_view text) {
    ASSERT_TRUE(WriteFileAtomic(JoinPath(dir_, path), text).ok());
  }
  absl::StatusOr<Project> Load(std::string_view toml) {
    EXPECT_TRUE(WriteFileAtomic(JoinPath(dir_, kProjectFile), toml).ok());
    return LoadProject(options_);
  }
  absl::StatusOr<Project> LoadWith(std::string_view more) {
    return Load(std::string(kMinimal) + std::string(more));
  }
  std::string Error(std::string_view more) {
    const absl::Status status = LoadWith(more).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    return std::string(status.message());
  }
  const Origin& OriginOf(const Project& project, std::string_view key) {
    for (const Origin& origin : project.origins) {
      if (origin.key == key) return origin;
    }
    static const Origin none;
    return none;
  }

  std::string dir_;
  LoadOptions options_;
};

TEST_F(ProjectTest, TheContractsExampleLoads) {
  ASSERT_TRUE(CreateDirectories(JoinPath(dir_, "dlc")).ok());
  const auto project = Load(R"(
[project]
name = "tower"
fix_case = true
[scan]
ignore = ["**/*.blend1"]
[[mount]]
path = "/Game"
dir = "content"
[[mount]]
path = "/Dlc"
dir = "dlc"
priority = 10
engine = true
stage_as = "/Game/dlc1"
[[platform]]
name = "windows"
texture = "bc"
shader = "spirv-1.5"
quality = "high"
[[platform]]
name = "android"
texture = "astc"
shader = "essl-310"
[[rule]]
match = "/Game/**/*.png"
cooker = "texture"
settings = { mipmaps = true, color_space = "srgb" }
platform.android.settings = { block = "6x6" }
resources = ["gpu"]
memory = "4GiB"
timeout_s = 600
labels = ["sdk-x"]
[cook]
maps = ["/Game/maps/*.level"]
directories = []
always = []
never = ["/Game/dev/**"]
cultures = ["en"]
modify = []
identity = "binary"
walls = "require"
[map_section.nightly]
maps = ["/Game/maps/*.level"]
[resources]
gpu = 1
[store]
dir = ".galley/store"
keep_sources = true
keep_roots = 10
max_size = "100GiB"
trust = "main"
read_trust = ["ci"]
instance = "main"
remote_mode = "read"
[output]
dir = ".galley/cooked"
[director]
memory = "8GiB"
metrics = "127.0.0.1:9464"
http = "127.0.0.1:8080"
ahead = false
[farm]
workers = 0
slots = 1
launcher = "local"
listen = "127.0.0.1:0"
placement = "cost"
)");
  ASSERT_TRUE(project.ok()) << project.status();
  EXPECT_EQ(project->name, "tower");
  EXPECT_EQ(project->director.memory_bytes, 8ull << 30);
  EXPECT_EQ(project->director.metrics, "127.0.0.1:9464");
  EXPECT_EQ(project->director.http, "127.0.0.1:8080");
  EXPECT_FALSE(project->director.ahead);
  EXPECT_TRUE(project->fix_case);
  ASSERT_EQ(project->mounts.size(), 2u);
  EXPECT_EQ(project->mounts[1].directory, JoinPath(dir_, "dlc"));
  EXPECT_EQ(project->mounts[1].priority, 10);
  EXPECT_TRUE(project->mounts[1].is_engine);
  EXPECT_EQ(project->mounts[1].stage_as, "/Game/dlc1");
  EXPECT_EQ(project->platforms[0].parameters.at("quality"), "high");
  EXPECT_EQ(project->platforms[1].parameters.at("texture"), "astc");
  const RuleBody& body = project->rules.at(0).body;
  EXPECT_EQ(body.cooker, "texture");
  EXPECT_EQ(body.settings, R"({"color_space":"srgb","mipmaps":true})");
  EXPECT_EQ(body.platform_settings.at("android"), R"({"block":"6x6"})");
  EXPECT_EQ(body.memory_bytes, 4ull << 30);
  EXPECT_EQ(body.timeout, absl::Seconds(600));
  EXPECT_EQ(project->rules[0].line, 26);
  EXPECT_FALSE(project->rules[0].ignore_case);
  EXPECT_EQ(project->cook.maps.at(0).text, "/Game/maps/*.level");
  EXPECT_EQ(project->cook.maps.at(0).place, "galley.toml:35");
  EXPECT_EQ(project->cook.never.at(0).place, "galley.toml:38");
  EXPECT_EQ(project->map_sections.at("nightly").at(0).place, "galley.toml:44");
  EXPECT_TRUE(project->cook.binary_identity);
  EXPECT_EQ(project->cook.walls, Walls::kRequire);
  EXPECT_THAT(project->map_sections.at("nightly"),
              ElementsAre(testing::Field(&Pattern::text, "/Game/maps/*.level")));
  EXPECT_EQ(project->resources.at("gpu"), 1u);
  EXPECT_EQ(project->store.directory, JoinPath(dir_, ".galley/store"));
  EXPECT_EQ(project->store.size_bytes_max, 100ull << 30);
  EXPECT_EQ(project->state_directory(), JoinPath(dir_, ".galley/state"));
}

TEST_F(ProjectTest, RulesAndWhatIsBesideThemAreToldApart) {
  const std::string rule = "[[rule]]\nmatch = \"/Game/*.png\"\ncooker = \"texture\"\n";
  const Project project = *LoadWith(rule);
  EXPECT_TRUE(project.director.ahead) << "the default";
  const Project moved = *LoadWith("# a comment\n\n" + rule);
  EXPECT_NE(moved.file_digest, project.file_digest);
  EXPECT_EQ(moved.but_rules, project.but_rules);
  EXPECT_EQ(moved.rules[0].digest, project.rules[0].digest);
  const Project set = *LoadWith(rule + "settings = { quality = 1 }\n");
  EXPECT_EQ(set.but_rules, project.but_rules);
  EXPECT_NE(set.rules[0].digest, project.rules[0].digest);
  const Project beside = *LoadWith(rule + "[cook]\nnever = [\"/Game/dev/**\"]\n");
  EXPECT_NE(beside.but_rules, project.but_rules);
  EXPECT_EQ(beside.rules[0].digest, project.rules[0].digest);
}

TEST_F(ProjectTest, TheStoreAndTheSandboxesAreNotAmongTheContent) {
  EXPECT_THAT(Error("[store]\ndir = \"content\"\n"),
              testing::AllOf(HasSubstr("galley.toml:8: `store.dir` "),
                             HasSubstr("/content is the content of [[mount]] /Game"),
                             HasSubstr("give a folder that holds no content")));
  EXPECT_THAT(Error("[store]\ndir = \".\"\n"), HasSubstr("holds the content of [[mount]] /Game"));
  EXPECT_THAT(Error("[output]\ndir = \"content\"\n"), HasSubstr("galley.toml:8: `output.dir` "));
  EXPECT_TRUE(LoadWith("[store]\ndir = \"content/.store\"\n").ok());
}

TEST_F(ProjectTest, AParameterInThePlaceOfOneThatCookersAskForIsATypingError) {
  const auto of_platform = [](const std::string& line) {
    return "[[platform]]\nname = \"mac\"\n" + line + "\n";
  };
  EXPECT_THAT(Error(of_platform("texure = \"bc\"")),
              testing::AllOf(HasSubstr("galley.toml:9: `texure` is no parameter"),
                             HasSubstr("did you mean `texture`?")));
  EXPECT_THAT(Error(of_platform("shaders = \"spirv-1.5\"")), HasSubstr("did you mean `shader`?"));
  EXPECT_TRUE(LoadWith(of_platform("texture = \"bc\"\ntextures = \"low\"")).ok());
  EXPECT_TRUE(LoadWith(of_platform("quality = \"high\"")).ok());
}

TEST_F(ProjectTest, KindsOfWarningsAreLeftOutOrErrors) {
  const auto project = LoadWith(R"([warnings]
off = ["texture-block-size"]
error = ["missing-soft-reference"]
[[rule]]
match = "/Game/ui/**"
warnings = { error = ["texture-block-size"] }
)");
  ASSERT_TRUE(project.ok()) << project.status();
  EXPECT_TRUE(project->warnings.IsOff(record::WarningKind::kTextureBlockSize));
  EXPECT_TRUE(project->warnings.IsError(record::WarningKind::kMissingSoftReference));
  EXPECT_EQ(project->warnings.off.count() + project->warnings.error.count(), 2u);
  const record::WarningRules& of_rule = project->rules[0].body.warnings;
  EXPECT_TRUE(of_rule.IsError(record::WarningKind::kTextureBlockSize));
  EXPECT_TRUE(of_rule.off.none());
  const auto sidecar = ParseSidecar("warnings = { off = [\"audio-file\"] }", "x.wav.cook");
  ASSERT_TRUE(sidecar.ok()) << sidecar.status();
  EXPECT_TRUE(sidecar->warnings.IsOff(record::WarningKind::kAudioFile));
  EXPECT_NE(LoadWith("[warnings]\noff = [\"audio-file\"]\n")->but_rules, LoadWith("")->but_rules);
}

TEST_F(ProjectTest, AnUnknownKindOfWarningsIsAnErrorWithItsPlaceAndTheNearest) {
  EXPECT_THAT(
      Error("[warnings]\noff = [\"audio-file\",\n\"texure-block-size\"]\n"),
      testing::AllOf(HasSubstr("galley.toml:9: `warnings.off`: "), HasSubstr("`texure-block-size`"),
                     HasSubstr("did you mean `texture-block-size`?")));
  EXPECT_THAT(Error("[[rule]]\nmatch = \"/**\"\nwarnings = { error = [\"mesh\"] }\n"),
              HasSubstr("galley.toml:9: `warnings.error`: unknown kind of warnings `mesh`"));
  EXPECT_THAT(Error("[warnings]\noff = [\"store\"]\nerror = [\"store\"]\n"),
              HasSubstr("galley.toml:9: `warnings.error`: `store` is in `off` and in `error`"));
  EXPECT_THAT(Error("[warnings]\nof = []\n"), HasSubstr("did you mean `off`?"));
  EXPECT_THAT(ParseSidecar("warnings = { on = [] }", "x.cook").status().ToString(),
              HasSubstr("x.cook:1: unknown key `on`"));
}

TEST_F(ProjectTest, DefaultsFillWhatIsNotSaid) {
  const auto project = Load(kMinimal);
  ASSERT_TRUE(project.ok()) << project.status();
  EXPECT_EQ(project->output_directory, JoinPath(dir_, ".galley/cooked"));
  EXPECT_FALSE(project->store.keep_sources);
  EXPECT_EQ(project->store.keep_roots, 10u);
  EXPECT_EQ(project->farm.launcher, "local");
  EXPECT_THAT(project->farm.environment, testing::IsEmpty());
  EXPECT_EQ(OriginOf(*project, "store.dir").source, "default");
}

TEST_F(ProjectTest, AShareOfTheFarmsJobsIsANumberFromNoneToAll) {
  const auto prove = [&](const std::string& text) { return LoadWith("[farm]\nprove = " + text); };
  EXPECT_EQ(Load(kMinimal)->farm.prove, 0.01);
  EXPECT_EQ(prove("0")->farm.prove, 0);
  EXPECT_EQ(prove("0.5")->farm.prove, 0.5);
  EXPECT_EQ(prove("1")->farm.prove, 1);
  for (const char* text : {"1.5", "-0.1", "nan", "\"all\""}) EXPECT_FALSE(prove(text).ok()) << text;
  options_.environment = {{"HOME", dir_}, {"GALLEY_FARM_PROVE", "0.25"}};
  EXPECT_EQ(prove("1")->farm.prove, 0.25);
  options_.environment = {{"HOME", dir_}, {"GALLEY_FARM_PROVE", "some"}};
  EXPECT_FALSE(prove("1").ok());
}

TEST_F(ProjectTest, LaterLayersWinAndAreNamed) {
  ASSERT_TRUE(CreateDirectories(JoinPath(dir_, ".config/galley")).ok());
  Write(".config/galley/config.toml",
        "[farm]\nworkers = 1\nslots = 2\n[store]\nkeep_roots = 3\ndir = \"user\"\n");
  options_.environment = {{"HOME", dir_},
                          {"GALLEY_STORE_KEEP_ROOTS", "5"},
                          {"GALLEY_COOK_CULTURES", "en,de"},
                          {"GALLEY_FARM_LAUNCHER", "none"},
                          {"GALLEY_OTHER", "ignored"}};
  options_.overrides = {{"store.dir", "/over"}};
  const auto project = LoadWith("[farm]\nworkers = 7\nlauncher = \"ssh\"\n");
  ASSERT_TRUE(project.ok()) << project.status();
  EXPECT_EQ(project->farm.workers, 7u);
  EXPECT_EQ(OriginOf(*project, "farm.workers").source, "galley.toml:8");
  EXPECT_EQ(OriginOf(*project, "farm.launcher").source, "GALLEY_FARM_LAUNCHER");
  EXPECT_EQ(project->farm.slots, 2u);
  EXPECT_THAT(OriginOf(*project, "farm.slots").source, HasSubstr("config.toml:3"));
  EXPECT_EQ(project->store.keep_roots, 5u);
  EXPECT_EQ(OriginOf(*project, "store.keep_roots").source, "GALLEY_STORE_KEEP_ROOTS");
  EXPECT_EQ(project->store.directory, "/over");
  EXPECT_EQ(OriginOf(*project, "store.dir").source, "command line");
  EXPECT_THAT(project->cook.cultures, ElementsAre("en", "de"));
}

TEST_F(ProjectTest, UnknownKeysNameFileLineAndTheNearest) {
  EXPECT_THAT(Error("[[platfrom]]\n"),
              HasSubstr("galley.toml:7: unknown key `platfrom`; did you mean `platform`?"));
  EXPECT_THAT(Error("[store]\nkeep_rots = 1\n"),
              HasSubstr("galley.toml:8: unknown key `keep_rots`; did you mean `keep_roots`?"));
  EXPECT_THAT(Error("[[rule]]\nmatch = \"/a\"\ncoker = \"x\"\n"),
              HasSubstr("galley.toml:9: unknown key `coker`; did you mean `cooker`?"));
  options_.environment = {{"GALLEY_STORE_DRI", "x"}};
  EXPECT_THAT(Error(""), HasSubstr("did you mean `GALLEY_STORE_DIR`?"));
  options_.environment.clear();
  options_.overrides = {{"store.dri", "x"}};
  EXPECT_THAT(Error(""), HasSubstr("did you mean `store.dir`?"));
}

TEST_F(ProjectTest, WrongTypesAndValuesNameTheirLine) {
  EXPECT_THAT(Error("[farm]\nworkers = \"two\"\n"),
              HasSubstr("galley.toml:8: `workers` must be an integer, not a string"));
  EXPECT_THAT(Error("[farm]\nworkers = -1\n"),
              HasSubstr("galley.toml:8: `farm.workers` must lie in 0..4096"));
  EXPECT_THAT(Error("[farm]\nlauncher = \"locale\"\n"), HasSubstr("did you mean `local`?"));
  for (const char* gone : {"fastest", "striped"})
    EXPECT_THAT(Error(fmt::format("[farm]\nworkers = 1\nplacement = \"{}\"\n", gone)),
                HasSubstr(fmt::format(
                    "galley.toml:9: `farm.placement` `{}` is gone: remove the key", gone)));
  EXPECT_THAT(Error("[store]\nmax_size = \"lots\"\n"), HasSubstr("`lots` is no size"));
  EXPECT_THAT(Error("[director]\nmemory = \"1MiB\"\n"), HasSubstr("expected at least 256MiB"));
  EXPECT_THAT(Error("[farm]\nenv = [\"WHO\", \"A=B\"]\n"),
              HasSubstr("expected names of environment variables, found \"A=B\""));
  EXPECT_THAT(Error("[farm]\nenv = [\"\"]\n"), HasSubstr("found \"\""));
  EXPECT_THAT(Error("[store]\ndir = \"~/store\"\n"), HasSubstr("not expanded"));
  EXPECT_THAT(Error("[cook]\nmaps = [1]\n"), HasSubstr("galley.toml:8"));
  EXPECT_THAT(Error("[cook]\nnever = [\"/a[\"]\n"), HasSubstr("not closed"));
  EXPECT_THAT(Error("[project]\nname = 1979-05-27\n"), HasSubstr("galley.toml:8: a date"));
  EXPECT_THAT(Error("[project\n"), HasSubstr("galley.toml:7: not valid TOML"));
}

TEST_F(ProjectTest, WhatJobsAskForIsAListOrATable) {
  const auto project = LoadWith(R"([[rule]]
match = "/a"
labels = ["win", "sdk-x"]
resources = ["gpu", "licence=4"]
[[rule]]
match = "/b"
resources = { gpu = 2 }
[resources]
licence = 8
[farm]
labels = ["win"]
resources = ["gpu=1", "licence=0"]
)");
  ASSERT_TRUE(project.ok()) << project.status();
  EXPECT_THAT(*project->rules[0].body.labels, ElementsAre("sdk-x", "win"));
  EXPECT_EQ(*project->rules[0].body.resources,
            (record::ResourceCounts{{"gpu", 1}, {"licence", 4}}));
  EXPECT_EQ(*project->rules[1].body.resources, (record::ResourceCounts{{"gpu", 2}}));
  EXPECT_FALSE(project->rules[1].body.labels.has_value());
  EXPECT_EQ(project->resources, (record::ResourceCounts{{"licence", 8}}));
  EXPECT_EQ(project->farm.offer,
            (record::WorkerOffer{.labels = {"win"}, .resources = {{"gpu", 1}, {"licence", 0}}}));
  options_.environment = {{"GALLEY_FARM_LABELS", "mac,sdk"}};
  EXPECT_THAT(LoadWith("").value().farm.offer.labels, ElementsAre("mac", "sdk"));
}

TEST_F(ProjectTest, WhatNobodyCouldAskForOrOfferNamesItsLine) {
  const auto rule = [this](std::string_view text) {
    return Error("[[rule]]\nmatch = \"/a\"\n" + std::string(text) + "\n");
  };
  EXPECT_THAT(rule("resources = [\"gpu=-1\"]"),
              HasSubstr("galley.toml:9: `resources`: \"gpu=-1\": expected NAME=N with N from 1"));
  EXPECT_THAT(rule("resources = [\"gpu\", \"gpu\"]"), HasSubstr("gpu stands there twice"));
  EXPECT_THAT(rule("resources = { gpu = 0 }"), HasSubstr("`gpu` must lie in 1..1000000"));
  EXPECT_THAT(rule("resources = { \"a b\" = 1 }"), HasSubstr("\"a b\" is no name"));
  EXPECT_THAT(rule("resources = 3"), HasSubstr("galley.toml:9: `resources` must be"));
  EXPECT_THAT(rule("labels = [\"a,b\"]"), HasSubstr("galley.toml:9: `labels`: \"a,b\" is no name"));
  EXPECT_THAT(Error("[resources]\ngpu = -1\n"), HasSubstr("`gpu` must lie in 0..1000000"));
  EXPECT_THAT(Error("[resources]\n\"g u\" = 1\n"), HasSubstr("galley.toml:8: \"g u\" is no name"));
  EXPECT_THAT(Error("[farm]\nresources = [\"gpu\"]\n"),
              HasSubstr("galley.toml:8: `farm.resources`: \"gpu\": expected NAME=N with N from 0"));
  EXPECT_THAT(Error("[farm]\nlabels = [\"\"]\n"), HasSubstr("galley.toml:8: `farm.labels`: \"\""));
}

TEST_F(ProjectTest, WhatIsNotBuiltYetIsRefusedOnlyWhenUsed) {
  EXPECT_THAT(Error("[cook]\nmodify = [\"x.py\"]\n"), HasSubstr("not yet"));
  EXPECT_TRUE(LoadWith("[store]\nremote = \"\"\n").ok());
}

TEST_F(ProjectTest, ARemoteStoreIsReadWithAllThatBelongsToIt) {
  const auto plain = LoadWith("[store]\nremote = \"grpc://cas.farm:9092\"\n");
  ASSERT_TRUE(plain.ok()) << plain.status();
  EXPECT_EQ(plain->store.remote.url, "grpc://cas.farm:9092");
  EXPECT_EQ(plain->store.remote.instance, "");
  EXPECT_FALSE(plain->store.remote.is_written);
  EXPECT_EQ(plain->store.remote.credential_file, "");

  const auto all = LoadWith(R"([store]
remote = "grpcs://cas.farm:8980"
instance = "studio/tower"
remote_mode = "read-write"
credential_file = "secrets/token"
tls_ca = "/etc/ca.pem"
tls_cert = "me.pem"
tls_key = "me.key"
)");
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_EQ(all->store.remote.instance, "studio/tower");
  EXPECT_TRUE(all->store.remote.is_written);
  EXPECT_EQ(all->store.remote.credential_file, JoinPath(dir_, "secrets/token"));
  EXPECT_EQ(all->store.remote.tls_ca, "/etc/ca.pem");
  EXPECT_EQ(all->store.remote.tls_key, JoinPath(dir_, "me.key"));
}

TEST_F(ProjectTest, WhatCannotBeARemoteStoreIsRefused) {
  const auto with = [](std::string_view remote, std::string_view more) {
    return "[store]\nremote = \"" + std::string(remote) + "\"\n" + std::string(more);
  };
  EXPECT_THAT(Error(with("cas.farm:8980", "")),
              HasSubstr("galley.toml:8: `store.remote`: remote cas.farm:8980: not known; expected "
                        "grpc://host:port"));
  EXPECT_THAT(Error(with("grpc://cas.farm", "credential_file = \"token\"\n")),
              HasSubstr("unencrypted to another machine; use grpcs://"));
  EXPECT_TRUE(LoadWith(with("grpc://127.0.0.1:1", "credential_file = \"token\"\n")).ok());
  EXPECT_THAT(Error(with("grpc://cas.farm", "tls_ca = \"ca.pem\"\n")),
              HasSubstr("galley.toml:9: `store.tls_ca` is for a `store.remote` of grpcs://"));
  EXPECT_THAT(Error(with("grpcs://cas.farm", "tls_cert = \"me.pem\"\n")),
              HasSubstr("`store.tls_cert` and `store.tls_key` belong together"));
  EXPECT_THAT(Error(with("grpc://x", "remote_mode = \"write\"\n")),
              HasSubstr("known: read, read-write"));
  for (const char* instance : {"a//b", "/a", "a/", "a/blobs", "uploads", "a\\tb"}) {
    EXPECT_THAT(Error(with("grpc://x", "instance = \"" + std::string(instance) + "\"\n")),
                HasSubstr("galley.toml:9: `store.instance`"))
        << instance;
  }
}

TEST_F(ProjectTest, PlatformNamesAndParametersAreChecked) {
  for (const char* name : {"root", "blob", "record", "Win", "-x", "a b", ""}) {
    EXPECT_FALSE(LoadWith(std::string("[[platform]]\nname = \"") + name + "\"\n").ok()) << name;
  }
  EXPECT_THAT(Error("[[platform]]\nname = \"windows\"\n"), HasSubstr("already"));
  EXPECT_THAT(Error("[[platform]]\nname = \"x\"\ntexture = \"dxt\"\n"),
              HasSubstr("galley.toml:9: `texture` is bc, astc or rgba8"));
  EXPECT_THAT(Error("[[platform]]\nname = \"x\"\nshader = \"spirv-2.0\"\n"),
              HasSubstr("galley.toml:9: `shader`"));
  EXPECT_THAT(Error("[[platform]]\nname = \"x\"\nshader = \"essl-330\"\n"),
              HasSubstr("essl-300, essl-310, essl-320"));
  std::string many;
  for (size_t i = 0; i < kPlatformsMax; ++i)
    many += "[[platform]]\nname = \"p" + std::to_string(i) + "\"\n";
  EXPECT_THAT(Error(many), HasSubstr("more than 32"));
}

TEST_F(ProjectTest, MountsAreChecked) {
  EXPECT_THAT(Error("[[mount]]\npath = \"/Game\"\ndir = \"content\"\n"),
              HasSubstr("galley.toml:7: another mount at /Game has priority 0"));
  EXPECT_THAT(Error("[[mount]]\npath = \"/X\"\ndir = \"none\"\n"),
              HasSubstr("galley.toml:9: mount /X"));
  EXPECT_THAT(Error("[[mount]]\npath = \"X\"\ndir = \"content\"\n"), HasSubstr("galley.toml:8"));
  EXPECT_THAT(Error("[[mount]]\npath = \"/X\"\n"), HasSubstr("`dir` is missing"));
  EXPECT_THAT(std::string(Load("[[platform]]\nname = \"x\"\n").status().message()),
              HasSubstr("no [[mount]]"));
  EXPECT_THAT(std::string(Load("[[mount]]\npath = \"/G\"\ndir = \"content\"\n").status().message()),
              HasSubstr("no [[platform]]"));
}

TEST_F(ProjectTest, RulesAreChecked) {
  EXPECT_THAT(Error("[[rule]]\ncooker = \"x\"\n"), HasSubstr("`match` is missing"));
  EXPECT_THAT(Error("[[rule]]\nmatch = \"/a\"\nignore_case = \"yes\"\n"),
              HasSubstr("`ignore_case` must be true or false, not a string"));
  EXPECT_THAT(Error("[[rule]]\nmatch = \"*.png\"\n"), HasSubstr("did you mean `/**/*.png`?"));
  EXPECT_THAT(Error("[[rule]]\nmatch = \"/a\"\nplatform.windos.settings = {}\n"),
              HasSubstr("did you mean `windows`?"));
  EXPECT_THAT(Error("[[rule]]\nmatch = \"/a\"\nmemory = \"many\"\n"),
              HasSubstr("galley.toml:9: `memory`"));
  EXPECT_THAT(Error("[[rule]]\nmatch = \"/a\"\nsettings = { x = inf }\n"), HasSubstr("finite"));
}

TEST_F(ProjectTest, ASidecarHasARulesKeysButMatch) {
  const auto body =
      ParseSidecar("cooker = \"texture\"\nplatform.android.settings = { block = \"4x4\" }\n",
                   "/Game/a.png.cook");
  ASSERT_TRUE(body.ok()) << body.status();
  EXPECT_EQ(body->cooker, "texture");
  EXPECT_THAT(std::string(ParseSidecar("\nsetings = {}\n", "/Game/a.png.cook").status().message()),
              HasSubstr("/Game/a.png.cook:2: unknown key `setings`; did you mean `settings`?"));
  EXPECT_THAT(std::string(ParseSidecar("match = \"x\"\n", "s").status().message()),
              HasSubstr("no place in a sidecar"));
  EXPECT_THAT(std::string(ParseSidecar("ignore_case = true\n", "s").status().message()),
              HasSubstr("s:1: unknown key `ignore_case`"));
  EXPECT_FALSE(ParseSidecar("\xff", "s").ok());
  EXPECT_FALSE(ParseSidecar(std::string(100'000, '['), "s").ok());
}

TEST_F(ProjectTest, TheProjectIsFoundFromBelow) {
  ASSERT_TRUE(Load(kMinimal).ok());
  ASSERT_TRUE(CreateDirectories(JoinPath(dir_, "content/a/b")).ok());
  EXPECT_EQ(*FindProject(JoinPath(dir_, "content/a/b")), dir_);
  const absl::Status none = FindProject("/proc").status();
  EXPECT_TRUE(absl::IsNotFound(none));
  EXPECT_THAT(std::string(none.message()), HasSubstr("galley init"));
}

TEST_F(ProjectTest, NoProjectFileSaysHowToMakeOne) {
  const absl::Status status = LoadProject(options_).status();
  EXPECT_TRUE(absl::IsNotFound(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("galley init"));
}

}  // namespace
}  // namespace galley::project
