// The plans of `galley init` for small trees, whose files `galley-worker` describes. Each
// galley.toml is read as a cook reads it, and tells what is done with each file: "texture",
// "texture {"usage":"normal"}", "copy", "no rule", "ignored".
#include "director/cli/init/plan.h"

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "common/base/file.h"
#include "common/content/ignore_rules.h"
#include "common/project/project.h"
#include "common/project/resolver.h"
#include "director/cli/init/table_text.h"
#include "director/cli/init/testing/memory_tree.h"
#include "director/cli/init/worker_looker.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace galley::init {
namespace {

using std::string_literals::operator""s;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

using Files = std::map<std::string, std::string>;

std::string BigEndian(uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
  return bytes;
}
// Source: PNG specification, annex D.
std::string PngChunk(const std::string& type, const std::string& content) {
  uint32_t sum = 0xffffffff;
  for (const char c : type + content) {
    sum ^= static_cast<uint8_t>(c);
    for (int i = 0; i < 8; ++i) sum = (sum & 1) != 0 ? 0xedb88320 ^ sum >> 1 : sum >> 1;
  }
  return BigEndian(static_cast<uint32_t>(content.size())) + type + content + BigEndian(~sum);
}
// So many zeros as a zlib stream. Source: RFC 1950; RFC 1951, 3.2.6: a literal, then runs of 258 at
// distance 1, then literals.
std::string ZerosAsStream(size_t count) {
  std::string bits = "110";  // the last block, of fixed codes
  const std::string literal = "00110000", run = "1100010100000";
  bits += literal;
  for (size_t i = 0; i < (count - 1) / 258; ++i) bits += run;
  for (size_t i = 0; i < (count - 1) % 258; ++i) bits += literal;
  bits += "0000000";  // the end of the block
  bits.resize((bits.size() + 7) / 8 * 8, '0');
  std::string stream = "\x78\x01";
  for (size_t at = 0; at < bits.size(); at += 8) {
    uint32_t byte = 0;
    for (size_t bit = 0; bit < 8; ++bit) byte |= (bits[at + bit] == '1' ? 1u : 0u) << bit;
    stream += static_cast<char>(byte);
  }
  return stream + BigEndian(static_cast<uint32_t>(count % 65521) << 16 | 1);  // Adler-32
}
// A black image.
std::string SizedPng(uint32_t width, uint32_t height, char color_type = 2) {
  const uint32_t texel = color_type == 2 ? 3 : color_type == 4 ? 2 : color_type == 6 ? 4 : 1;
  return "\x89PNG\r\n\x1a\n" +
         PngChunk("IHDR", BigEndian(width) + BigEndian(height) + "\x08"s + color_type + "\0\0\0"s) +
         (color_type == 3 ? PngChunk("PLTE", "rgb") : "") +
         PngChunk("IDAT", ZerosAsStream(size_t{height} * (size_t{width} * texel + 1))) +
         PngChunk("IEND", "");
}
std::string Png(char color_type = 6) { return SizedPng(1, 1, color_type); }
// An image of one texel in three channels.
const std::string kJpeg =
    "\377\330\377\340\000\020\112\106\111\106\000\001\001\000\000\001\000\001\000\000\377\333"
    "\000\103\000\120\067\074\106\074\062\120\106\101\106\132\125\120\137\170\310\202\170\156"
    "\156\170\365\257\271\221\310\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377"
    "\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377"
    "\377\377\333\000\103\001\125\132\132\170\151\170\353\202\202\353\377\377\377\377\377\377"
    "\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377"
    "\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377"
    "\377\377\377\377\377\300\000\021\010\000\001\000\001\003\001\042\000\002\021\001\003\021"
    "\001\377\304\000\024\000\001\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\377\304\000\024\020\001\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\377\304\000\024\001\001\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\003\377\304\000\024\021\001\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000"
    "\000\377\332\000\014\003\001\000\002\021\003\021\000\077\000\000\062\277\377\331"s;
// A frame of 16 bits at 8,000 Hz; `format`: 1 PCM, 2 ADPCM.
std::string Wav(char format) {
  return "RIFF\x26\0\0\0WAVEfmt \x10\0\0\0"s + format +
         "\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data\x02\0\0\0\0\0"s;
}
const std::string kWav = Wav(1);
const std::string kAdpcm = Wav(2);
const std::string kVulkan =
    "#version 450\nlayout(location = 0) out vec4 c;\nvoid main() { c = vec4(1); }\n";
const std::string kOldGlsl = "#version 120\nvarying vec2 uv;\nvoid main() {}\n";
const std::string kElf =
    "\x7f"
    "ELF\x02\x01\x01";

class PlanTest : public ::testing::Test {
 protected:
  PlanTest() : root_(*MakeTemporaryDirectory(::testing::TempDir(), "init-")) {}
  ~PlanTest() override { RemoveAll(root_).IgnoreError(); }

  // Loads the plan's galley.toml. The folders of its mounts are made.
  void Load(const Plan& plan) {
    for (const MountPlan& mount : plan.mounts)
      ASSERT_TRUE(CreateDirectories(JoinPath(root_, mount.root.folder)).ok());
    ASSERT_TRUE(WriteFileAtomic(JoinPath(root_, "galley.toml"), plan.toml).ok());
    auto project = project::LoadProject({.directory = root_});
    ASSERT_TRUE(project.ok()) << project.status() << "\n" << plan.toml;
    project_ = *std::move(project);
  }

  void Init(const Files& files) { InitTree(MemoryTree(files), files); }
  // `files`: those of the tree that cookers look at.
  void InitTree(const Tree& tree, const Files& files) {
    WriteTree(files);
    WorkerLooker looker = RealLooker();
    plan_ = MakePlan(tree, "game", kFilesMax, &looker);
    EXPECT_EQ(looker.trouble(), "");
    Load(plan_);
  }
  void WriteTree(const Files& files) {
    ASSERT_TRUE(RemoveAll(tree_).ok());
    std::set<std::string> folders;
    for (const auto& [path, bytes] : files) {
      const std::string host_path = JoinPath(tree_, path);
      const std::string folder = host_path.substr(0, host_path.rfind('/'));
      if (folders.insert(folder).second) {
        ASSERT_TRUE(CreateDirectories(folder).ok());
      }
      ASSERT_TRUE(WriteFileAtomic(host_path, bytes).ok());
    }
  }
  WorkerLooker RealLooker() const {
    return WorkerLooker(
        {.directory = tree_, .program = std::string(GALLEY_BIN_DIR) + "/galley-worker"});
  }

  // The answer of the galley.toml for a file of this virtual path.
  std::string Does(const std::string& path) const {
    const auto ignore = *content::IgnoreRules::Create(project_->scan_ignore, {});
    for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
      const std::string part = path.substr(0, end);
      if (ignore.Ignores(part, part.substr(part.rfind('/') + 1))) return "ignored";
      if (end == std::string::npos) break;
    }
    std::string cooker;
    std::string settings;
    for (const project::Rule& rule : project_->rules) {
      if (!rule.match.Matches(rule.ignore_case ? absl::AsciiStrToLower(path) : path)) continue;
      if (rule.body.cooker && *rule.body.cooker != cooker) settings.clear();
      if (rule.body.cooker) cooker = *rule.body.cooker;
      if (!rule.body.settings.empty()) settings = " " + rule.body.settings;
    }
    return cooker.empty() ? "no rule" : cooker + settings;
  }

  // The row of the table that has this example.
  std::optional<Row> RowOf(const std::string& path) const {
    for (const Row& row : plan_.rows) {
      for (const std::string& example : row.examples) {
        if (example == path) return row;
      }
    }
    return std::nullopt;
  }
  std::string ReasonOf(const std::string& path) const {
    const auto row = RowOf(path);
    return row ? row->decision.reason : "no row";
  }

  std::map<std::string, std::string> Mounts() const {
    std::map<std::string, std::string> mounts;
    for (const MountPlan& mount : plan_.mounts) mounts[mount.root.path] = mount.root.folder;
    return mounts;
  }

  const std::string root_;
  const std::string tree_ = JoinPath(root_, "tree");
  Plan plan_;
  std::optional<project::Project> project_;
};

TEST_F(PlanTest, EachKindGoesToItsCookerAndTheRestIsCopied) {
  Init({{"assets/a.png", Png()},
        {"assets/deep/below/B.PNG", Png()},
        {"assets/c.jpg", kJpeg},
        {"assets/d.wav", kWav},
        {"assets/e.frag", kVulkan},
        {"assets/f.json", "{}"},
        {"assets/g.gltf", R"({"asset": {"version": "2.0"}})"},
        {"assets/h.ttf", "font"},
        {"assets/i.level", R"({"items": []})"}});
  EXPECT_THAT(Mounts(), ElementsAre(Pair("/Game", "assets")));
  EXPECT_EQ(Does("/Game/a.png"), "texture");
  EXPECT_EQ(Does("/Game/deep/below/B.PNG"), "texture");
  EXPECT_EQ(Does("/Game/later.JPG"), "texture");
  EXPECT_EQ(Does("/Game/c.jpg"), "texture");
  EXPECT_EQ(Does("/Game/d.wav"), "audio");
  EXPECT_EQ(Does("/Game/e.frag"), "shader");
  EXPECT_EQ(Does("/Game/f.json"), "data");
  EXPECT_EQ(Does("/Game/g.gltf"), "mesh");
  EXPECT_EQ(Does("/Game/h.ttf"), "copy");
  EXPECT_EQ(Does("/Game/i.level"), "data");
  EXPECT_THAT(plan_.toml, HasSubstr("cell_size = 64"));
}

TEST_F(PlanTest, TheBytesDecideAndNotTheName) {
  Init({{"a.png", Png()},
        {"b.png", Png()},
        {"photo.png", kJpeg},
        {"sound.wav", kWav},
        {"compressed.wav", kAdpcm},
        {"stone.material", "shader \"lit\" { albedo brick.png }"},
        {"wood.material", "{}"},
        {"empty.json", ""},
        {"table.json", "[1, 2]"},
        {"twice.json", R"({"a": 1, "a": 2})"},
        {"commented.json", "// hello\n{}"}});
  EXPECT_EQ(Does("/Game/a.png"), "texture");
  EXPECT_EQ(Does("/Game/photo.png"), "copy");
  EXPECT_EQ(ReasonOf("photo.png"), "a JPEG under the name .png");
  EXPECT_EQ(Does("/Game/sound.wav"), "audio");
  EXPECT_EQ(Does("/Game/compressed.wav"), "copy");
  EXPECT_EQ(Does("/Game/stone.material"), "copy");
  EXPECT_EQ(Does("/Game/wood.material"), "data");
  EXPECT_EQ(Does("/Game/empty.json"), "copy");
  EXPECT_EQ(Does("/Game/table.json"), "data");
  EXPECT_EQ(Does("/Game/twice.json"), "copy");
  EXPECT_EQ(Does("/Game/commented.json"), "copy");
  EXPECT_EQ(ReasonOf("commented.json"), "not JSON");
}

TEST_F(PlanTest, ASchemasReferencesAreNotGalleys) {
  Init({{"a.json", R"({"x": {"$ref": "b.json"}})"},
        {"b.json", "{}"},
        {"schema.json", R"({"x": {"$ref": "#/definitions/y"}})"}});
  EXPECT_EQ(Does("/Game/a.json"), "data");
  EXPECT_EQ(Does("/Game/schema.json"), "copy");
}

TEST_F(PlanTest, ShadersOfOtherLanguagesAreCopiedAndSayWhy) {
  Init({{"vk/a.frag", kVulkan},
        {"vk/b.vert", kVulkan},
        {"gl/a.frag", kOldGlsl},
        {"gl/b.frag", "void main() { gl_FragColor = vec4(1.0); }"},
        {"es/c.frag", "#version 300 es\nvoid main() {}"},
        {"hlsl/d.frag", "float4 main() : SV_Target { return float4(1, 1, 1, 1); }"},
        {"gl/e.frag", "#version 330\nuniform mat4 view;\nvoid main() {}"},
        {"gl/part.frag", "vec3 light() { return vec3(1); }"}});
  EXPECT_EQ(Does("/Game/vk/a.frag"), "shader");
  EXPECT_EQ(Does("/Game/vk/b.vert"), "shader");
  for (const char* path :
       {"gl/a.frag", "gl/b.frag", "es/c.frag", "hlsl/d.frag", "gl/e.frag", "gl/part.frag"})
    EXPECT_EQ(Does("/Game/"s + path), "copy") << path;
  EXPECT_EQ(ReasonOf("gl/a.frag"), "GLSL of #version 120: Vulkan takes 140 and later");
  EXPECT_EQ(ReasonOf("hlsl/d.frag"), "not GLSL but another language, such as HLSL");
}

TEST_F(PlanTest, IncludesAreReadAndTheirFolderIsNamed) {
  const std::string with_include = "#version 450\n#include \"light.glsl\"\nvoid main() {}\n";
  Init({{"shaders/a.frag", with_include},
        {"library/light.glsl", "vec3 light() { return vec3(1); }"},
        {"library/unused.glsl", "vec3 unused() { return vec3(1); }"},
        {"shaders/lost.frag", "#version 450\n#include \"engine.glsl\"\nvoid main() {}\n"}});
  EXPECT_EQ(Does("/Game/shaders/a.frag"), "shader {\"include_dirs\":[\"/Game/library\"]}");
  EXPECT_EQ(Does("/Game/library/light.glsl"), "no rule");
  EXPECT_EQ(Does("/Game/library/unused.glsl"), "copy");
  EXPECT_EQ(Does("/Game/shaders/lost.frag"), "copy");
}

TEST_F(PlanTest, PartsOfShadersAreNoPackagesWhereAllShadersAreCooked) {
  Init({{"a.frag", "#version 450\n#include \"math.glsl\"\nvoid main() {}\n"},
        {"math.glsl", "float middle() { return 0.5; }"},
        {"light.glsl", "#include \"math.glsl\"\nvec3 light() { return vec3(1); }"}});
  EXPECT_EQ(Does("/Game/a.frag"), "shader");
  EXPECT_EQ(Does("/Game/math.glsl"), "no rule");
  EXPECT_EQ(Does("/Game/light.glsl"), "no rule");
}

TEST_F(PlanTest, WhatCopiedShadersIncludeIsCopiedToo) {
  Init({{"a.frag", "#version 120\n#include \"light.h\"\nvoid main() {}\n"},
        {"light.h", "vec3 light();"},
        {"program.h", "int main();"}});
  EXPECT_EQ(Does("/Game/light.h"), "copy");
  EXPECT_NE(Does("/Game/program.h"), "copy");
}

TEST_F(PlanTest, BuiltFilesBesideTheirSourcesAreLeftAlone) {
  Init({{"x.frag", kVulkan},
        {"x.frag.spv", "\x03\x02\x23\x07"},
        {"old.frag", kOldGlsl},
        {"old.frag.spv", "\x03\x02\x23\x07"},
        {"alone.spv", "\x03\x02\x23\x07"},
        {"t.png", Png()},
        {"t.png.import", "[remap]"},
        {"t.dds", "DDS "},
        {"t.png.ktx2", "\xabKTX 20"},
        {"u.dds", "DDS "},
        {"n.png", Png()},
        {"n.png.meta", "frames: 12"},
        {"m.png", Png()},
        {"m.png.meta", "fileFormatVersion: 2\nguid: 1"}});
  EXPECT_EQ(Does("/Game/x.frag.spv"), "ignored");
  EXPECT_EQ(Does("/Game/old.frag.spv"), "copy");  // its source is not cooked
  EXPECT_EQ(Does("/Game/alone.spv"), "copy");
  EXPECT_EQ(Does("/Game/t.png.import"), "ignored");
  EXPECT_EQ(Does("/Game/t.dds"), "ignored");
  EXPECT_EQ(Does("/Game/t.png.ktx2"), "ignored");
  EXPECT_EQ(Does("/Game/u.dds"), "copy");
  EXPECT_EQ(Does("/Game/m.png.meta"), "ignored");
  EXPECT_EQ(Does("/Game/n.png.meta"), "copy");  // of the game's own
}

TEST_F(PlanTest, NormalMapsAndMasksAreKnownByTheEndsOfTheirNames) {
  const Files files = {
      {"wall.png", Png()},          {"wall_n.png", Png()},         {"wall-normal.png", Png()},
      {"Wall_Normal.PNG", Png()},   {"wall_roughness.png", Png()}, {"wall_orm.png", Png()},
      {"button_normal.png", Png()}, {"button_hover.png", Png()},   {"state_normal1.png", Png()},
      {"stone_color2.png", Png()},  {"stone_normal2.png", Png()},  {"arrow_n.png", Png()},
      {"arrow_e.png", Png()},       {"arrow_w.png", Png()}};
  plan_ = MakePlan(MemoryTree(files), "game");  // nobody looks at texels: names decide alone
  Load(plan_);
  const std::string normal = "texture {\"usage\":\"normal\"}";
  EXPECT_EQ(Does("/Game/wall.png"), "texture");
  EXPECT_EQ(Does("/Game/wall_n.png"), normal);
  EXPECT_EQ(Does("/Game/wall-normal.png"), normal);
  EXPECT_EQ(Does("/Game/Wall_Normal.PNG"), normal);
  EXPECT_EQ(Does("/Game/wall_roughness.png"), "texture {\"usage\":\"mask\"}");
  EXPECT_EQ(Does("/Game/wall_orm.png"), "texture {\"color_space\":\"linear\"}");
  EXPECT_EQ(Does("/Game/button_normal.png"), "texture");  // the state of a button
  EXPECT_EQ(Does("/Game/arrow_n.png"), "texture");        // north
  EXPECT_EQ(Does("/Game/state_normal1.png"), "texture");  // the first of several states
  EXPECT_EQ(Does("/Game/stone_normal2.png"), normal);
  Init({{"map_normal.png", Png(3)}});
  EXPECT_EQ(Does("/Game/map_normal.png"), "texture");  // has a palette
}

TEST_F(PlanTest, SlotsOfMaterialsSayWhatAnImageIsFor) {
  Init({{"m.gltf", R"({"asset": {"version": "2.0"}, "buffers": [{"uri": "m%201.bin"}],
           "images": [{"uri": "c.png"}, {"uri": "bumps.png"}, {"uri": "rm.png"}],
           "textures": [{"source": 0}, {"source": 1}, {"source": 2}],
           "materials": [{"normalTexture": {"index": 1}, "pbrMetallicRoughness": {
             "baseColorTexture": {"index": 0}, "metallicRoughnessTexture": {"index": 2}}}]})"},
        {"m 1.bin", "buffer"},
        {"other.bin", "data of the game"},
        {"c.png", Png()},
        {"bumps.png", Png()},
        {"rm.png", Png()}});
  EXPECT_EQ(Does("/Game/c.png"), "texture");
  EXPECT_EQ(Does("/Game/bumps.png"), "texture {\"usage\":\"normal\"}");
  EXPECT_EQ(Does("/Game/rm.png"), "texture {\"color_space\":\"linear\"}");
  EXPECT_EQ(Does("/Game/m 1.bin"), "no rule");
  EXPECT_EQ(Does("/Game/other.bin"), "copy");
}

TEST_F(PlanTest, AMeshThatTheCookerRefusesIsCopiedWithItsBuffers) {
  Init({{"m.gltf", R"({"asset": {"version": "2.0"}, "buffers": [{"uri": "m.bin"}],
                       "extensionsRequired": ["KHR_draco_mesh_compression"]})"},
        {"m.bin", "buffer"},
        {"old.gltf", R"({"asset": {"version": "1.0"}})"}});
  EXPECT_EQ(Does("/Game/m.gltf"), "copy");
  EXPECT_EQ(Does("/Game/m.bin"), "copy");
  EXPECT_EQ(Does("/Game/old.gltf"), "copy");
}

TEST_F(PlanTest, WhatNoGameLoadsIsLeftOut) {
  Init({{"a.png", Png()},
        {"a.blend", "BLENDER"},
        {"a.psd", "8BPS"},
        {"src/main.cc", "int main() {}"},
        {"bin/game", kElf},
        {"bin/data", "not a program"},
        {"node_modules/x/y.png", Png()},
        {"out/CMakeCache.txt", ""},
        {"out/z.png", Png()},
        {".import/q.png", Png()},
        {"README.md", "read me"},
        {"LICENSE", "MIT"},
        {"docs/screen.png", Png()},
        {"logic/start.lua", "print(1)"},
        {"package.json", "{}"},
        {"items.json", "{}"}});
  for (const char* path :
       {"a.blend", "a.psd", "src/main.cc", "node_modules/x/y.png", "out/z.png", ".import/q.png",
        "README.md", "docs/screen.png", "package.json", "galley.toml"})
    EXPECT_EQ(Does("/Game/"s + path), "ignored") << path;
  EXPECT_THAT(Does("/Game/bin/game"), ::testing::AnyOf("ignored", "no rule"));
  EXPECT_EQ(Does("/Game/bin/data"), "copy");
  EXPECT_EQ(Does("/Game/LICENSE"), "copy");
  EXPECT_THAT(ReasonOf("LICENSE"), HasSubstr("licence"));
  EXPECT_EQ(Does("/Game/logic/start.lua"), "copy");
  EXPECT_EQ(Does("/Game/items.json"), "data");
}

TEST_F(PlanTest, SeveralContentFoldersAreSeveralMounts) {
  Files files = {{"src/main.c", "x"}, {"web/logo.png", Png()}};
  for (int i = 0; i < 50; ++i) files[fmt::format("game/assets/{}.png", i)] = Png();
  for (int i = 0; i < 5; ++i) files[fmt::format("mods/castle/assets/{}.png", i)] = Png();
  for (int i = 0; i < 9; ++i) files[fmt::format("levels/{}.json", i)] = "{}";
  Init(files);
  EXPECT_THAT(Mounts(),
              ElementsAre(Pair("/Game", "game/assets"), Pair("/castle", "mods/castle/assets"),
                          Pair("/levels", "levels")));
  EXPECT_EQ(Does("/castle/1.png"), "texture");
  EXPECT_EQ(Does("/levels/1.json"), "data");
  EXPECT_THAT(ReasonOf("web/logo.png"), HasSubstr("outside of the mounts"));
}

TEST_F(PlanTest, WithoutSuchNamesTheFolderOfAllContentIsTheMount) {
  Init({{"usr/share/quest/maps/a.png", Png()},
        {"usr/share/quest/sounds/b.wav", kWav},
        {"usr/share/doc/quest/shot.png", Png()},
        {"usr/share/doc/quest/copyright", "text"}});
  EXPECT_THAT(Mounts(), ElementsAre(Pair("/Game", "usr/share/quest")));
  Init({{"a.png", Png()}, {"maps/b.png", Png()}});
  EXPECT_THAT(Mounts(), ElementsAre(Pair("/Game", "")));
}

TEST_F(PlanTest, TheRootOfAProgramsRepositoryIsNoContent) {
  Files files = {{"CMakeLists.txt", "project()"}, {"android/Manifest.xml", "<x/>"}};
  for (int i = 0; i < 20; ++i) files[fmt::format("shaders/{}.frag", i)] = kVulkan;
  files["images/logo.png"] = Png();
  Init(files);
  EXPECT_THAT(Mounts(), ElementsAre(Pair("/Game", "shaders"), Pair("/images", "images")));
  EXPECT_THAT(ReasonOf("android/Manifest.xml"), HasSubstr("outside of the mounts"));
}

TEST_F(PlanTest, OddThingsAreLeftOutAndTold) {
  const Files files = {{"a/a.png", Png()}, {"a/b.png", Png()}, {"secret/c.png", Png()}};
  MemoryTree tree(files);
  tree.AddTrouble("a/loop", "a link to nothing, or in a loop");
  tree.AddTrouble("a/p.png", "a device, a pipe or a socket");
  tree.Forbid("secret");
  tree.Forbid("a/b.png");
  InitTree(tree, files);
  EXPECT_EQ(Does("/Game/a.png"), "texture");
  EXPECT_EQ(Does("/Game/b.png"), "ignored");
  EXPECT_EQ(Does("/Game/loop"), "ignored");
  EXPECT_EQ(Does("/Game/p.png"), "ignored");
  EXPECT_EQ(ReasonOf("secret"), "a folder that cannot be read");
  EXPECT_EQ(ReasonOf("a/b.png"), "a file that cannot be read");
}

TEST_F(PlanTest, ALinkOutOfItsMountIsLeftOut) {
  Files files;
  for (int i = 0; i < 9; ++i) files[fmt::format("one/assets/{}.png", i)] = Png();
  for (int i = 0; i < 8; ++i) files[fmt::format("two/assets/{}.png", i)] = Png();
  MemoryTree tree(files);
  tree.AddLink("one/assets/in.png", "one/assets/1.png");
  tree.AddLink("one/assets/out.png", "two/assets/1.png");
  files["one/assets/in.png"] = files["one/assets/out.png"] = Png();
  InitTree(tree, files);
  EXPECT_EQ(Does("/Game/in.png"), "texture");
  EXPECT_EQ(Does("/Game/out.png"), "ignored");
}

TEST_F(PlanTest, NamesThatMeanSomethingInAGlobStillMatch) {
  Init({{"a [1]/{x},y.png", kJpeg}, {"a [1]/z.png", Png()}, {"b.png", Png()}});
  EXPECT_EQ(Does("/Game/a [1]/{x},y.png"), "copy");
  EXPECT_EQ(Does("/Game/a [1]/z.png"), "texture");
}

TEST_F(PlanTest, FilesWithoutExtensionAreNamed) {
  Init({{"maps/town", "data"},
        {"maps/tower", "data"},
        {"a.png", Png()},
        {"bin/tool", kElf},
        {"Makefile", "all:"}});
  EXPECT_EQ(Does("/Game/maps/town"), "copy");
  EXPECT_EQ(Does("/Game/maps/later.png"), "texture");
  EXPECT_NE(Does("/Game/Makefile"), "copy");
  EXPECT_NE(Does("/Game/bin/tool"), "copy");
}

TEST_F(PlanTest, AnEmptyTreeGetsAnExample) {
  Init({});
  EXPECT_TRUE(plan_.is_empty);
  EXPECT_THAT(Mounts(), ElementsAre(Pair("/Game", "")));
  EXPECT_THAT(plan_.toml, HasSubstr("# cooker = \"texture\""));
}

TEST_F(PlanTest, ATreeWithoutEndIsLookedAtInPart) {
  const Plan plan = MakePlan(MemoryTree({{"a.png", Png()}, {"b.png", Png()}}), "game", 1);
  EXPECT_TRUE(plan.is_cut);
  EXPECT_THAT(TableText(plan), HasSubstr("only the first"));
}

TEST_F(PlanTest, TheTableListsAllFilesWithReasons) {
  Init({{"a.png", Png()}, {"b.png", Png()}, {"photo.png", kJpeg}, {"x.blend", "BLENDER"}});
  EXPECT_EQ(TableText(plan_), R"(/Game is this folder: 3 packages
extension    files  what      why
.png             2  texture   images: KTX2 in the platform's texture family
.png             1  copy      a JPEG under the name .png (photo.png)
.blend           1  left out  a project of a modelling program: export it as glTF to have it cooked (x.blend)
)");
  size_t files = 0;
  for (const Row& row : plan_.rows) files += row.files;
  EXPECT_EQ(files, 4u);
}

TEST_F(PlanTest, PointersOfGitLfsHaveTheRuleOfTheirNames) {
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 9\n";
  Init({{"assets/a.png", pointer},
        {"assets/b_normal.png", pointer},
        {"assets/c.wav", pointer},
        {"assets/d.gltf", pointer},
        {"assets/e.frag", pointer},
        {"assets/f.ttf", pointer},
        {"README.md", pointer}});
  EXPECT_EQ(Does("/Game/a.png"), "texture");
  EXPECT_THAT(Does("/Game/b_normal.png"), HasSubstr("normal"));
  EXPECT_EQ(Does("/Game/c.wav"), "audio");
  EXPECT_EQ(Does("/Game/d.gltf"), "mesh");
  EXPECT_EQ(Does("/Game/e.frag"), "shader");
  EXPECT_EQ(Does("/Game/f.ttf"), "copy");
  EXPECT_THAT(TableText(plan_), HasSubstr("6 files are pointers of Git LFS, whose contents are not "
                                          "here (assets/a.png, ...): run `git lfs pull`"));
  EXPECT_EQ(TableJson(plan_)["lfs_pointers"], 6);
}

// Has the worker make outlines; answers the other looks from memory, and notes what it was asked.
class FakeLooker : public Looker {
 public:
  explicit FakeLooker(WorkerLooker worker) : worker_(std::move(worker)) {}
  std::map<std::string, Look> LookAt(const LookAsk& ask) override {
    if (ask.is_outline) return worker_.LookAt(ask);
    asked[ask.cooker] = ask.paths;
    settings[ask.cooker] = ask.settings;
    std::map<std::string, Look> found;
    for (const std::string& path : ask.paths) {
      if (const auto look = looks.find(path); look != looks.end()) found.insert(*look);
    }
    return found;
  }
  void SetPixels(const std::string& path, const std::string& pixels) {
    looks[path] = {.takes = true, .pixels = pixels};
  }

  std::map<std::string, Look> looks;
  std::map<std::string, std::vector<std::string>> asked;
  std::map<std::string, std::string> settings;

 private:
  WorkerLooker worker_;
};

class LookedAtTest : public PlanTest {
 protected:
  void InitLookedAt(const Files& files) {
    WriteTree(files);
    plan_ = MakePlan(MemoryTree(files), "game", kFilesMax, &looker_);
    Load(plan_);
  }
  FakeLooker looker_{RealLooker()};
  const std::string kNormalTexture = "texture {\"usage\":\"normal\"}";
};

TEST_F(LookedAtTest, AFileIsANormalMapWhenItsPixelsAreWhateverItIsCalled) {
  for (const char* path : {"wall_Normal.png", "bumps.png", "rock_bump.png"})
    looker_.SetPixels(path, "normal");
  looker_.SetPixels("image_faction_Normal.png", "color");
  looker_.SetPixels("combo-normal.png", "color");
  looker_.SetPixels("soft_normal.png", "like-normal");
  looker_.SetPixels("sky.png", "like-normal");
  InitLookedAt({{"wall_Normal.png", Png()},
                {"bumps.png", Png()},
                {"rock_bump.png", Png()},
                {"image_faction_Normal.png", Png()},
                {"combo-normal.png", Png()},
                {"soft_normal.png", Png()},
                {"sky.png", Png()}});
  for (const char* path : {"wall_Normal.png", "bumps.png", "rock_bump.png", "soft_normal.png"})
    EXPECT_EQ(Does("/Game/"s + path), kNormalTexture) << path;
  for (const char* path : {"image_faction_Normal.png", "combo-normal.png", "sky.png"})
    EXPECT_EQ(Does("/Game/"s + path), "texture") << path;
  EXPECT_THAT(plan_.named_only,
              UnorderedElementsAre("image_faction_Normal.png", "combo-normal.png"));
}

TEST_F(LookedAtTest, TheTableNamesTheFilesOfEachGuess) {
  looker_.SetPixels("a_n.png", "normal");
  looker_.SetPixels("b_roughness.png", "grey");
  looker_.SetPixels("c_normal.png", "color");
  InitLookedAt({{"a_n.png", Png()}, {"b_roughness.png", Png()}, {"c_normal.png", Png()}});
  const std::string text = TableText(plan_);
  EXPECT_THAT(text, HasSubstr("usage = \"normal\": a_n.png\n"));
  EXPECT_THAT(text, HasSubstr("usage = \"mask\": b_roughness.png\n"));
  EXPECT_THAT(text,
              HasSubstr("named like a normal map, with the pixels of a picture: c_normal.png"));
  EXPECT_EQ(TableJson(plan_)["named_only"], nlohmann::json({"c_normal.png"}));
}

TEST_F(LookedAtTest, OfManyGuessesTheTableNamesSomeAndJsonAll) {
  Files files;
  for (int i = 0; i < 40; ++i) {
    const std::string path = fmt::format("a{:02}_n.png", i);
    files[path] = Png();
    looker_.SetPixels(path, "normal");
  }
  InitLookedAt(files);
  EXPECT_THAT(TableText(plan_), HasSubstr("a11_n.png and 28 more (--json names them)"));
  EXPECT_EQ(TableJson(plan_)["table"][0]["examples"].size(), 40u);
  EXPECT_THAT(plan_.toml, HasSubstr("/Game/**/*_n.png")) << "one rule for all";
}

TEST_F(LookedAtTest, AMaskWhoseChannelsDifferKeepsThem) {
  looker_.SetPixels("a_roughness.png", "color");
  looker_.SetPixels("b_orm.png", "grey");
  looker_.SetPixels("c_normal.png", "two-channel-normal");
  InitLookedAt({{"a_roughness.png", Png()}, {"b_orm.png", Png()}, {"c_normal.png", Png()}});
  EXPECT_EQ(Does("/Game/a_roughness.png"), "texture {\"color_space\":\"linear\"}");
  EXPECT_EQ(Does("/Game/b_orm.png"), "texture {\"usage\":\"mask\"}");
  EXPECT_EQ(Does("/Game/c_normal.png"), "texture {\"color_space\":\"linear\"}");
}

TEST_F(LookedAtTest, AtMostAThousandImagesAreDecodedSmallOnesAndNamedOnesFirst) {
  Files files = {{"z_normal.png", Png() + std::string(5'000, 'x')},
                 {"big.png", Png() + std::string(9'000, 'x')}};
  for (int i = 0; i < 1'200; ++i) files[fmt::format("{:04}.png", i)] = Png() + std::string(i, 'x');
  InitLookedAt(files);
  const std::vector<std::string>& asked = looker_.asked["texture"];
  ASSERT_EQ(asked.size(), 1'000u);
  EXPECT_EQ(asked[0], "z_normal.png");
  EXPECT_EQ(asked[1], "0000.png");
  EXPECT_THAT(asked, Not(::testing::Contains("big.png")));
  EXPECT_EQ(Does("/Game/z_normal.png"), kNormalTexture) << "no answer: the name decides";
  EXPECT_THAT(ReasonOf("z_normal.png"), HasSubstr("by name: it was not decoded"));
}

// The names are those that SuperTuxKart gives to its own; none is among the 1,000 smallest images.
TEST_F(LookedAtTest, OtherNamesForNormalMapsAreWorthALookToo) {
  const std::vector<std::string> names = {"bark_nm.png", "road-nm.jpg", "wall_nml.png",
                                          "wall_NRML.png", "waternormals2.png"};
  Files files;
  for (int i = 0; i < 1'200; ++i) files[fmt::format("{:04}.png", i)] = Png();
  for (const std::string& name : names) {
    files[name] = (name.ends_with("jpg") ? std::string(kJpeg) : Png()) + std::string(5'000, 'x');
    looker_.SetPixels(name, "normal");
  }
  InitLookedAt(files);
  for (const std::string& name : names) EXPECT_EQ(Does("/Game/" + name), kNormalTexture) << name;
}

TEST_F(LookedAtTest, OtherNamesForMasksOfSeveralChannelsAreKnown) {
  Files files = {{"door.png", Png()}};
  for (const char* name : {"door_glossy.png", "door_glossmap.png", "chest_PbrData.png",
                           "carpet_colormask.png", "carpet_color_mask.png"})
    files[name] = Png();
  for (const auto& [name, bytes] : files) looker_.SetPixels(name, "color");
  InitLookedAt(files);
  for (const auto& [name, bytes] : files) {
    EXPECT_EQ(Does("/Game/" + name),
              name == "door.png" ? "texture" : "texture {\"color_space\":\"linear\"}")
        << name;
  }
}

constexpr const char* kDataTexture =
    "texture {\"color_space\":\"linear\",\"format\":\"rgba8\",\"max_size\":0,\"mipmaps\":false}";

class LevelsTest : public LookedAtTest {
 protected:
  // A level has its size, a grid of the ground, its heights and a picture.
  void AddLevels(int count, int growth) {
    files_["sky.png"] = Png();  // so that /Game is the whole tree
    for (int i = 0; i < count; ++i) {
      const std::string folder = fmt::format("levels/{}/", i);
      const auto side = static_cast<uint32_t>(60 + i * growth);
      files_[folder + "ground.png"] = SizedPng(side, 90);
      files_[folder + "height.png"] = SizedPng(side, 90);
      files_[folder + "preview.png"] = SizedPng(side + 1, 90);
      looker_.looks[folder + "ground.png"] = {.takes = true, .pixels = "color", .is_flat = true};
      looker_.SetPixels(folder + "height.png", "grey");
      looker_.SetPixels(folder + "preview.png", "color");
    }
  }
  Files files_;
};

TEST_F(LevelsTest, GridsOfDataAreKeptWithoutLossAndTold) {
  AddLevels(4, 1);
  looker_.looks["levels/2/ground.png"].is_flat = false;  // one that has shades, too
  InitLookedAt(files_);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(Does(fmt::format("/Game/levels/{}/ground.png", i)), kDataTexture) << plan_.toml;
    EXPECT_EQ(Does(fmt::format("/Game/levels/{}/height.png", i)), kDataTexture);
    EXPECT_EQ(Does(fmt::format("/Game/levels/{}/preview.png", i)), "texture");
  }
  EXPECT_EQ(Does("/Game/levels/9/ground.png"), kDataTexture) << "the next level";
  EXPECT_EQ(Does("/Game/levels/9/background.png"), "texture");
  EXPECT_THAT(TableText(plan_), HasSubstr("max_size = 0: levels/0/ground.png, "));
  EXPECT_THAT(TableText(plan_), HasSubstr(" 8  texture, format = \"rgba8\", ...  grids of data"));
  EXPECT_THAT(ReasonOf("levels/0/height.png"), HasSubstr("grids of data"));
}

TEST_F(LevelsTest, ThoseThatWereNotDecodedAreAsTheOthersOfTheirName) {
  AddLevels(40, 3);
  for (int i = 10; i < 40; ++i) looker_.looks.erase(fmt::format("levels/{}/ground.png", i));
  InitLookedAt(files_);
  EXPECT_EQ(Does("/Game/levels/39/ground.png"), kDataTexture);
}

TEST_F(LevelsTest, OtherFormsOfAGridBesideItAreGridsToo) {
  AddLevels(4, 1);
  files_["levels/1/ground-wet.png"] = files_["levels/1/ground.png"];
  files_["levels/1/height_snow.png"] = files_["levels/1/ground.png"];
  files_["levels/1/ground-photo.png"] = files_["levels/1/ground.png"];
  files_["levels/2/ground-wet.png"] = files_["levels/1/ground.png"];  // of another size
  files_["levels/9/ground.jpg"] = kJpeg;
  looker_.looks["levels/1/ground-wet.png"] = looker_.looks["levels/1/ground.png"];
  looker_.looks["levels/2/ground-wet.png"] = looker_.looks["levels/1/ground.png"];
  looker_.SetPixels("levels/1/height_snow.png", "grey");
  looker_.SetPixels("levels/1/ground-photo.png", "color");
  InitLookedAt(files_);
  EXPECT_EQ(Does("/Game/levels/1/ground-wet.png"), kDataTexture);
  EXPECT_EQ(Does("/Game/levels/1/height_snow.png"), kDataTexture);
  EXPECT_EQ(Does("/Game/levels/9/ground.jpg"), kDataTexture) << "by its name";
  EXPECT_EQ(Does("/Game/levels/1/ground-photo.png"), "texture");
  EXPECT_EQ(Does("/Game/levels/2/ground-wet.png"), "texture");
  EXPECT_THAT(plan_.may_be_data, ElementsAre("levels/2/ground-wet.png"));
}

TEST_F(LevelsTest, WhereAllHaveOneSizeTheyMayBeDrawnAndAreOnlyTold) {
  AddLevels(4, 0);
  InitLookedAt(files_);
  EXPECT_EQ(Does("/Game/levels/0/ground.png"), "texture");
  EXPECT_THAT(TableText(plan_), HasSubstr("may be data and no pictures (few colours with hard "
                                          "edges, or heights): levels/0/ground.png, levels/1"));
  EXPECT_THAT(TableText(plan_), HasSubstr("give them `settings = { format = \"rgba8\""));
  EXPECT_EQ(TableJson(plan_)["may_be_data"].size(), 4u);
}

TEST_F(LevelsTest, PicturesOfLevelsAreNoData) {
  AddLevels(4, 1);
  for (auto& [path, look] : looker_.looks) look = {.takes = true, .pixels = "color"};
  InitLookedAt(files_);
  EXPECT_EQ(Does("/Game/levels/0/ground.png"), "texture");
  EXPECT_THAT(TableText(plan_), Not(HasSubstr("may be data")));
}

TEST_F(LookedAtTest, AnImageThatMayBeDataIsNamed) {
  const Look grey = {.takes = true, .pixels = "grey"};
  looker_.looks["lossy.jpg"] = {.takes = true, .pixels = "color", .is_flat = true};
  looker_.looks["ground.png"] = {.takes = true, .pixels = "color", .is_flat = true};
  looker_.looks["icon.png"] = looker_.looks["ground.png"];
  looker_.looks["mark.png"] = {.takes = true, .pixels = "grey", .is_flat = true};
  looker_.looks["deep.png"] = {.takes = true, .pixels = "grey", .channel_bits = 16};
  looker_.looks["hills.png"] = grey;
  looker_.looks["photo.png"] = grey;
  InitLookedAt({{"ground.png", SizedPng(100, 70)},
                {"icon.png", SizedPng(16, 16)},
                {"lossy.jpg", kJpeg},
                {"mark.png", SizedPng(100, 70)},
                {"deep.png", SizedPng(100, 70)},
                {"hills.png", SizedPng(65, 65)},
                {"photo.png", SizedPng(64, 64)}});
  EXPECT_THAT(plan_.may_be_data, ElementsAre("deep.png", "ground.png", "hills.png"));
  for (const std::string& path : plan_.may_be_data) EXPECT_EQ(Does("/Game/" + path), "texture");
}

// The image is like kiki_kart_colormask.png of SuperTuxKart: black, with the mask in alpha.
TEST_F(LookedAtTest, AMaskWithAlphaKeepsIt) {
  looker_.looks["kart_colormask.png"] = {.takes = true, .pixels = "grey", .has_alpha = true};
  looker_.looks["kart_roughness.png"] = {.takes = true, .pixels = "grey"};
  InitLookedAt({{"kart_colormask.png", Png()}, {"kart_roughness.png", Png()}});
  EXPECT_EQ(Does("/Game/kart_colormask.png"), "texture {\"color_space\":\"linear\"}");
  EXPECT_EQ(Does("/Game/kart_roughness.png"), "texture {\"usage\":\"mask\"}");
}

TEST_F(LookedAtTest, GreyImagesThatEndAlikeBesideAPictureAreMasks) {
  Files files;
  for (const char* name : {"car", "cab", "bus-red"}) {
    const std::string base = name;
    for (const char* end : {"", "_tc", "_far", "_disabled", "_dirtmask"}) {
      files[base + end + ".png"] = Png();
      const bool is_grey = end == "_tc"s || end == "_disabled"s;
      looker_.SetPixels(base + end + ".png", is_grey ? "grey" : "color");
    }
  }
  InitLookedAt(files);
  EXPECT_EQ(Does("/Game/car_tc.png"), "texture {\"usage\":\"mask\"}");
  EXPECT_EQ(Does("/Game/bus-red_tc.png"), "texture {\"usage\":\"mask\"}");
  EXPECT_EQ(Does("/Game/cab_dirtmask.png"), "texture {\"color_space\":\"linear\"}");
  for (const char* path : {"car.png", "car_far.png", "cab_disabled.png"})
    EXPECT_EQ(Does("/Game/"s + path), "texture");
  EXPECT_THAT(TableText(plan_), HasSubstr("usage = \"mask\": bus-red_tc.png, cab_tc.png"));
}

TEST_F(LookedAtTest, TwoOfAnEndOrOneInColorsAreNoMasks) {
  for (const char* path : {"a_tc.png", "b_tc.png", "a_lm.png", "b_lm.png"})
    looker_.SetPixels(path, "grey");
  looker_.SetPixels("c_lm.png", "color");
  InitLookedAt({{"a.png", Png()},
                {"b.png", Png()},
                {"c.png", Png()},
                {"a_tc.png", Png()},
                {"b_tc.png", Png()},
                {"a_lm.png", Png()},
                {"b_lm.png", Png()},
                {"c_lm.png", Png()}});
  EXPECT_EQ(Does("/Game/a_tc.png"), "texture");
  EXPECT_EQ(Does("/Game/a_lm.png"), "texture");
}

TEST_F(LookedAtTest, AWordThatSiblingsProveCountsWithoutOneToo) {
  Files files;
  for (const char* name : {"egg", "fox", "cow"}) {
    files[name + "_dif.png"s] = Png();
    files[name + "_gloss.png"s] = Png();
  }
  files["trophy_gloss.png"] = files["owl_bump.png"] = Png();
  for (const auto& [path, bytes] : files) looker_.SetPixels(path, "color");
  looker_.SetPixels("owl_bump.png", "grey");
  InitLookedAt(files);
  EXPECT_EQ(Does("/Game/egg_gloss.png"), "texture {\"color_space\":\"linear\"}");
  EXPECT_EQ(Does("/Game/trophy_gloss.png"), "texture {\"color_space\":\"linear\"}");
  EXPECT_EQ(Does("/Game/owl_bump.png"), "texture") << "no other one proves it";
}

TEST_F(LookedAtTest, TheNumberOfASurfaceBelongsToItsName) {
  for (const char* path : {"Painting2.png", "Painting2_glossy.png"})
    looker_.SetPixels(path, "color");
  InitLookedAt({{"Painting2.png", Png()}, {"Painting2_glossy.png", Png()}});
  EXPECT_EQ(Does("/Game/Painting2_glossy.png"), "texture {\"color_space\":\"linear\"}");
}

TEST_F(LookedAtTest, APictureOfMetalIsAPicture) {
  for (const char* path : {"trail.png", "trail-metal.png"}) looker_.SetPixels(path, "color");
  looker_.SetPixels("trail-spec.png", "grey");
  looker_.looks["trail-alpha.png"] = {.takes = true, .pixels = "grey", .has_alpha = true};
  InitLookedAt({{"trail.png", Png()},
                {"trail-metal.png", Png()},
                {"trail-spec.png", Png()},
                {"trail-alpha.png", Png()}});
  EXPECT_EQ(Does("/Game/trail-alpha.png"), "texture");
  EXPECT_EQ(Does("/Game/trail-metal.png"), "texture");
  EXPECT_EQ(Does("/Game/trail-spec.png"), "texture {\"usage\":\"mask\"}");
}

TEST_F(LookedAtTest, TheTableSaysHowManyWereDecoded) {
  Files files;
  for (int i = 0; i < 1'200; ++i) {
    files[fmt::format("{:04}.png", i)] = Png();
    looker_.SetPixels(fmt::format("{:04}.png", i), "color");
  }
  InitLookedAt(files);
  EXPECT_THAT(TableText(plan_), HasSubstr("1000 of 1200 images were decoded for the guesses; of "
                                          "the others, the names decide\n"));
  InitLookedAt({{"0001.png", Png()}});
  EXPECT_THAT(TableText(plan_), Not(HasSubstr("were decoded")));
}

TEST_F(LookedAtTest, AnImageThatTheCookerRefusesIsCopied) {
  looker_.looks["a.png"] = {.takes = false, .reason = "png: the file is truncated"};
  InitLookedAt({{"a.png", Png()}, {"b.png", Png()}});
  EXPECT_EQ(Does("/Game/a.png"), "copy");
  EXPECT_THAT(ReasonOf("a.png"), HasSubstr("the file is truncated"));
}

TEST_F(LookedAtTest, TheCompilersWordOnAShaderCounts) {
  looker_.looks["a.frag"] = {.takes = true};
  looker_.looks["b.frag"] = {.takes = false};
  looker_.looks["c.frag"] = {.takes = false,
                             .reason = "GLSL of #version 120: Vulkan takes 140 and later"};
  InitLookedAt(
      {{"a.frag", kOldGlsl}, {"b.frag", kVulkan}, {"c.frag", kOldGlsl}, {"d.frag", kVulkan}});
  EXPECT_EQ(Does("/Game/a.frag"), "shader");
  EXPECT_EQ(Does("/Game/b.frag"), "copy");
  EXPECT_EQ(ReasonOf("b.frag"), "no Vulkan GLSL: the shader cooker refuses it");
  EXPECT_EQ(ReasonOf("c.frag"), "GLSL of #version 120: Vulkan takes 140 and later");
  EXPECT_EQ(Does("/Game/d.frag"), "shader");
}

TEST_F(PlanTest, ManyReasonsBecomeOne) {
  Files files = {{"a.json", "{}"}};
  for (int i = 0; i < 9; ++i)
    files[fmt::format("b{}.json", i)] = fmt::format(R"({{"{0}":1,"{0}":2}})", i);
  Init(files);
  EXPECT_EQ(Does("/Game/a.json"), "data");
  EXPECT_EQ(ReasonOf("b0.json"), "the data cooker refuses it");
  files.erase("b0.json");
  Init(files);
  EXPECT_EQ(ReasonOf("b1.json"), "the object has the key \"1\" twice");
}

TEST_F(PlanTest, ThePlanIsTheSameWhateverTheOrderOfAnswers) {
  Files files;
  for (int i = 0; i < 300; ++i) {
    files[fmt::format("{}.png", i)] = i % 7 == 0 ? kJpeg : SizedPng(i + 1, 4);
    files[fmt::format("{}.json", i)] = fmt::format(R"({{"a": {{"$ref": "{}.png"}}}})", i);
  }
  WriteTree(files);
  std::set<std::string> plans;
  for (const size_t programs_max : {size_t{1}, size_t{4}, size_t{4}}) {
    WorkerLooker looker({.directory = tree_,
                         .program = std::string(GALLEY_BIN_DIR) + "/galley-worker",
                         .programs_max = programs_max});
    const Plan plan = MakePlan(MemoryTree(files), "game", kFilesMax, &looker);
    plans.insert(plan.toml + TableText(plan));
  }
  EXPECT_EQ(plans.size(), 1u);
}

// So that names which Windows cannot have fail there, and nowhere else.
TEST_F(PlanTest, ThePlatformWindowsSaysItsSystem) {
  Init({{"a.png", Png()}});
  std::map<std::string, std::string> systems;
  for (const project::Platform& platform : project_->platforms) {
    const auto os = platform.parameters.find("os");
    systems[platform.name] = os == platform.parameters.end() ? "" : os->second;
  }
  EXPECT_THAT(systems, UnorderedElementsAre(Pair("windows", "windows"), Pair("android", "")));
}

TEST_F(PlanTest, AnOrphanDoesNotStopThePatternOfEditorsNotes) {
  Files files = {{"gone.png.import", "[remap]\nimporter=\"texture\"\n"}};
  for (int i = 0; i < 500; ++i) {
    files[fmt::format("{}.png", i)] = Png();
    files[fmt::format("{}.png.import", i)] = "[remap]\n";
  }
  Init(files);
  EXPECT_THAT(plan_.toml, HasSubstr("\"*.import\""));
  EXPECT_EQ(Does("/Game/gone.png.import"), "ignored");
  files["mine.import"] = "a file of the game's own";
  Init(files);
  EXPECT_EQ(Does("/Game/mine.import"), "copy");
  EXPECT_EQ(Does("/Game/7.png.import"), "ignored");
  EXPECT_EQ(Does("/Game/499.png.import"), "ignored");
  EXPECT_EQ(plan_.not_ignored, 0u);
}

TEST_F(PlanTest, WhatNoPatternIgnoresIsTold) {
  Files files = {{"a.png", Png()}};
  for (int i = 0; i < 1'500; ++i) {
    files[fmt::format("{}/x.bin", i)] = kElf;
    files[fmt::format("{}/y.bin", i)] = i % 3 == 0 ? "data" : kElf;
    files[fmt::format("{}/z.bin", i)] = i % 3 == 1 ? "data" : kElf;
  }
  Init(files);
  EXPECT_GT(plan_.not_ignored, 0u);
  EXPECT_THAT(TableText(plan_), HasSubstr("would need too many patterns"));
}

TEST_F(PlanTest, WhatOthersReadHasARuleWithoutACooker) {
  Init({{"m.gltf", R"({"asset": {"version": "2.0"}, "buffers": [{"uri": "m.bin"}]})"},
        {"m.bin", "buffer"},
        {"shaders/a.frag", "#version 450\n#include \"light.glsl\"\nvoid main() {}\n"},
        {"shaders/light.glsl", "float light() { return 1.0; }"}});
  const auto is_set_aside = [&](const std::string& path) {
    return project::RecipeResolver(*project_, {}).IsSetAside(path);
  };
  EXPECT_TRUE(is_set_aside("/Game/m.bin"));
  EXPECT_TRUE(is_set_aside("/Game/shaders/light.glsl"));
  EXPECT_FALSE(is_set_aside("/Game/m.gltf"));
}

TEST_F(PlanTest, ATreeThatGrowsIsToldWithTheSettingThatShrinksIt) {
  const std::string large = SizedPng(2'048, 2'048);
  Init({{"a.png", large + std::string(200'000 - large.size(), 'x')}, {"b.wav", kWav}});
  ASSERT_TRUE(plan_.growth.has_value());
  EXPECT_EQ(plan_.growth->cooked_bytes, 2'048u * 2'048 / 2 * 4 / 3);
  EXPECT_EQ(plan_.growth->max_size, 1'024u);
  EXPECT_THAT(TableText(plan_), HasSubstr("the textures grow 13 times"));
  EXPECT_THAT(TableText(plan_), HasSubstr("`settings = { max_size = 1024 }`"));
  EXPECT_THAT(plan_.toml, HasSubstr("max_size = 1024, zstd = 9"));
  Init({{"a.png", SizedPng(2'048, 2'048) + std::string(900'000, 'x')}});
  EXPECT_FALSE(plan_.growth.has_value());
}

TEST_F(PlanTest, ASandboxIsLeftOut) {
  Init({{"assets/a.png", Png()},
        {"assets/out/pc/.galley-sandbox", ""},
        {"assets/out/pc/Game/b.png", Png()}});
  EXPECT_EQ(ReasonOf("assets/out/pc"), "a sandbox: what a cook made");
  EXPECT_EQ(ReasonOf("assets/out/pc/Game/b.png"), "no row");
}

}  // namespace
}  // namespace galley::init
