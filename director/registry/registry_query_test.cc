#include "director/registry/registry_query.h"

#include <string>
#include <vector>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

// menu.level -> town.level -> house.mesh -> brick.png; town -(soft)-> song.wav;
// town -(editor)-> notes.txt (never cooked); house -> brick also on android alone by a soft one.
std::vector<RegistryRow> TownRows() {
  return {
      {.package = "/Game/maps/menu.level",
       .cooker = "data",
       .source_size = 10,
       .known = 3,
       .in_cook = 3,
       .edges = {{"/Game/maps/town.level", EdgeKind::kHard, 3}},
       .outputs = {{0, ".cbor", 100}, {1, ".cbor", 200}},
       .reasons = {{3, ""}}},
      {.package = "/Game/maps/town.level",
       .cooker = "data",
       .known = 3,
       .in_cook = 3,
       .edges = {{"/Game/props/house.mesh", EdgeKind::kHard, 3},
                 {"/Game/song.wav", EdgeKind::kSoft, 1},
                 {"/Game/notes.txt", EdgeKind::kEditor, 3}},
       .outputs = {{0, ".cbor", 1'000}}},
      {.package = "/Game/notes.txt", .cooker = "copy", .is_never = true, .source_size = 7},
      {.package = "/Game/props/house.mesh",
       .cooker = "mesh",
       .known = 3,
       .in_cook = 3,
       .failed = 2,
       .tags = {{"triangles", 12'000.0, 3}, {"skinned", false, 3}},
       .edges = {{"/Game/props/textures/brick.png", EdgeKind::kHard, 2}}},
      {.package = "/Game/props/textures/brick.png",
       .cooker = "texture",
       .known = 3,
       .tags = {{"width", 512.0, 1}, {"width", 1'024.0, 2}, {"format", std::string("bc7"), 2}},
       .outputs = {{0, ".ktx2", 1 << 20}}},
      {.package = "/Game/song.wav", .cooker = "audio", .source_size = 5'000'000},
  };
}

class RegistryQueryTest : public testing::Test {
 protected:
  // The packages' last names, or the error.
  std::string Ask(const std::string& text, const QueryScope& scope = {}) {
    const auto parsed = ParseQuery(text);
    if (const auto* const error = std::get_if<QueryError>(&parsed)) return error->text;
    const QueryOutcome outcome =
        RunQuery(std::get<QueryNode>(parsed), table_, scope, Cancellation());
    if (const auto* const error = std::get_if<QueryError>(&outcome))
      return fmt::format("{}: {}", error->column, error->text);
    if (const auto* const status = std::get_if<absl::Status>(&outcome))
      return std::string(status->message());
    answer_ = std::get<QueryAnswer>(outcome);
    std::vector<std::string> names;
    answer_.packages.ForEach([&](size_t package) {
      const std::string_view name = table_->NameOf(static_cast<QueryAnswer::Number>(package));
      names.emplace_back(name.substr(name.rfind('/') + 1));
      return true;
    });
    return fmt::format("{}", fmt::join(names, " "));
  }

  std::shared_ptr<const RegistryTable> table_ =
      *RegistryTable::FromBytes(*RegistryTable::Encode({}, {"android", "pc"}, TownRows()));
  QueryAnswer answer_;
};

TEST_F(RegistryQueryTest, EachFilter) {
  EXPECT_EQ(Ask("all()"), "menu.level town.level house.mesh brick.png song.wav");
  EXPECT_EQ(answer_.not_looked_at, 1u);
  EXPECT_EQ(Ask("all()", {.has_unfollowed = true}),
            "menu.level town.level notes.txt house.mesh brick.png song.wav");
  EXPECT_EQ(answer_.not_looked_at, 2u);
  EXPECT_EQ(Ask("/Game/song.wav"), "song.wav");
  EXPECT_EQ(Ask("path(/Game/props/**)"), "house.mesh brick.png");
  EXPECT_EQ(Ask("path(/Game/props/*)"), "house.mesh");
  EXPECT_EQ(Ask("path(**/*.png)"), "brick.png");
  EXPECT_EQ(Ask("path(/Game/song.wav)"), "song.wav");
  EXPECT_EQ(Ask("path(/Game/prop/**)"), "");
  EXPECT_EQ(Ask("path(/**)"), "menu.level town.level house.mesh brick.png song.wav");
  EXPECT_EQ(Ask("class(texture, audio)"), "brick.png song.wav");
  EXPECT_EQ(Ask("tag(width)"), "brick.png");
  EXPECT_EQ(Ask("tag(width, 600..)"), "brick.png");
  EXPECT_EQ(Ask("tag(width, 600..)", {.platform = "android"}), "");
  EXPECT_EQ(Ask("tag(format, bc7)"), "brick.png");
  EXPECT_EQ(Ask("tag(format, bc1)"), "");
  EXPECT_EQ(Ask("tag(skinned, false)"), "house.mesh");
  EXPECT_EQ(Ask("size(1MiB..)"), "brick.png song.wav") << "what was never cooked has its source's";
  EXPECT_EQ(Ask("size(300)"), "menu.level");
  EXPECT_EQ(Ask("size(200, pc)"), "menu.level");
  EXPECT_EQ(Ask("size(200)", {.platform = "pc"}), "menu.level");
  EXPECT_EQ(Ask("size(0, pc)"), "town.level house.mesh brick.png");
  EXPECT_EQ(Ask("platform(pc)"), "menu.level town.level house.mesh brick.png");
  EXPECT_EQ(Ask("in_cook()"), "menu.level town.level house.mesh");
  EXPECT_EQ(Ask("failed()"), "house.mesh");
  EXPECT_EQ(Ask("failed(android)"), "");
  EXPECT_EQ(Ask("kind(soft)"), "song.wav");
  EXPECT_EQ(Ask("kind(editor)"), "") << "what it leads to is never cooked";
  EXPECT_EQ(Ask("kind(editor)", {.has_unfollowed = true}), "notes.txt");
  EXPECT_EQ(Ask("roots()"), "menu.level");
  EXPECT_EQ(Ask("not in_cook()"), "brick.png song.wav");
  EXPECT_EQ(Ask("all() - class(data) - in_cook()"), "brick.png song.wav");
}

TEST_F(RegistryQueryTest, References) {
  EXPECT_EQ(Ask("deps(/Game/maps/town.level)"), "house.mesh song.wav");
  EXPECT_EQ(Ask("deps(/Game/maps/town.level)", {.has_unfollowed = true}),
            "notes.txt house.mesh song.wav");
  EXPECT_EQ(Ask("deps(/Game/maps/town.level, kind(soft))"), "song.wav");
  EXPECT_EQ(Ask("deps(/Game/maps/town.level, platform(pc))"), "house.mesh");
  EXPECT_EQ(Ask("deps(/Game/maps/town.level)", {.platform = "pc"}), "house.mesh");
  EXPECT_EQ(Ask("rdeps(class(texture) or class(audio))"), "town.level house.mesh");
  EXPECT_EQ(Ask("closure(/Game/maps/menu.level)"),
            "menu.level town.level house.mesh brick.png song.wav");
  EXPECT_EQ(Ask("closure(/Game/maps/menu.level, kind(hard), platform(android))"),
            "menu.level town.level house.mesh");
  EXPECT_EQ(Ask("paths(/Game/maps/menu.level, /Game/props/house.mesh)"),
            "menu.level town.level house.mesh");
  EXPECT_EQ(answer_.shape, QueryAnswer::Shape::kGraph);
  EXPECT_EQ(Ask("path_between(/Game/maps/menu.level, class(texture))"),
            "menu.level town.level house.mesh brick.png");
  EXPECT_EQ(answer_.shape, QueryAnswer::Shape::kPath);
  EXPECT_EQ(answer_.path, (std::vector<QueryAnswer::Number>{0, 1, 3, 4}));
  EXPECT_EQ(Ask("path_between(class(texture), /Game/maps/menu.level)"), "");
  EXPECT_EQ(Ask("paths(/Game/maps/menu.level, all()) and class(mesh)"), "house.mesh");
  EXPECT_EQ(answer_.shape, QueryAnswer::Shape::kSet);
}

TEST_F(RegistryQueryTest, WhatIsNowhereIsSaid) {
  EXPECT_EQ(Ask("all() and /Game/none.png"), "11: there is no package /Game/none.png");
  EXPECT_EQ(Ask("rdeps(/Game/notes.txt)"), "7: /Game/notes.txt is never cooked; --all takes it in");
  EXPECT_EQ(Ask("rdeps(/Game/notes.txt)", {.has_unfollowed = true}), "town.level");
  EXPECT_EQ(Ask("in_cook(ios)"), "1: there is no platform ios: android, pc");
  EXPECT_EQ(Ask("deps(all(), platform(ios))"), "1: there is no platform ios: android, pc");
  EXPECT_EQ(Ask("all()", {.platform = "ios"}),
            "--platform ios: there is no such platform: android, pc");
  EXPECT_TRUE(Ask("all() and path(/Game/[)").starts_with("11: path(/Game/[): "));
  EXPECT_EQ(Ask("class(textrue)"), "");
  EXPECT_EQ(answer_.notes, std::vector<std::string>{"no package has the class textrue"});
  EXPECT_EQ(Ask("tag(widht)"), "");
  EXPECT_EQ(answer_.notes, std::vector<std::string>{"no package has the tag widht"});
}

}  // namespace
}  // namespace galley::director
