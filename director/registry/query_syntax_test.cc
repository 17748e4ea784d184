#include "director/registry/query_syntax.h"

#include <string>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using Kind = QueryNode::Kind;

// The tree as text: and(class[texture], path</Game/**>).
std::string Shown(const QueryNode& node) {
  static constexpr const char* kNames[] = {
      "all",          "name",   "path", "class", "tag",  "size",  "platform",
      "in_cook",      "failed", "kind", "roots", "deps", "rdeps", "closure",
      "path_between", "paths",  "not",  "and",   "or",   "minus"};
  std::string text = kNames[static_cast<size_t>(node.kind)];
  if (!node.text.empty()) text += fmt::format("<{}>", node.text);
  if (!node.words.empty()) text += fmt::format("[{}]", fmt::join(node.words, " "));
  if (node.value) {
    if (const auto* const range = std::get_if<QueryRange>(&*node.value)) {
      text += fmt::format("{{{}..{}}}", range->min, range->max);
    } else if (const auto* const is_true = std::get_if<bool>(&*node.value)) {
      text += fmt::format("{{{}}}", *is_true);
    } else {
      text += fmt::format("{{'{}'}}", std::get<std::string>(*node.value));
    }
  }
  std::string operands;
  for (const QueryNode& one : node.operands)
    operands += (operands.empty() ? "" : ", ") + Shown(one);
  if (!node.along.kinds.empty()) operands += fmt::format("; {}", fmt::join(node.along.kinds, " "));
  if (!node.along.platforms.empty())
    operands += fmt::format("; on {}", fmt::join(node.along.platforms, " "));
  return operands.empty() ? text : text + "(" + operands + ")";
}

std::string Parsed(const std::string& query) {
  const auto parsed = ParseQuery(query);
  if (const auto* const error = std::get_if<QueryError>(&parsed))
    return fmt::format("{}: {}", error->column, error->text);
  return Shown(std::get<QueryNode>(parsed));
}

TEST(QuerySyntaxTest, EachFunction) {
  EXPECT_EQ(Parsed("all()"), "all");
  EXPECT_EQ(Parsed(" roots ( ) "), "roots");
  EXPECT_EQ(Parsed("path(/Game/**)"), "path</Game/**>");
  EXPECT_EQ(Parsed("path(\"/Game/{a,b}/*.png\")"), "path</Game/{a,b}/*.png>");
  EXPECT_EQ(Parsed("path(/Game/{a,b}/*.png)"), "path</Game/{a,b}/*.png>");
  EXPECT_EQ(Parsed("class(texture, mesh)"), "class[texture mesh]");
  EXPECT_EQ(Parsed("tag(width)"), "tag<width>");
  EXPECT_EQ(Parsed("tag(width, 512)"), "tag<width>{512..512}");
  EXPECT_EQ(Parsed("tag(width, 512..)"), "tag<width>{512..inf}");
  EXPECT_EQ(Parsed("tag(width, ..-1.5)"), "tag<width>{-inf..-1.5}");
  EXPECT_EQ(Parsed("tag(width, 5 .. 7)"), "tag<width>{5..7}");
  EXPECT_EQ(Parsed("tag(path, \"a..b\")"), "tag<path>{'a..b'}");
  EXPECT_EQ(Parsed("tag(srgb, true)"), "tag<srgb>{true}");
  EXPECT_EQ(Parsed("tag(format, bc7)"), "tag<format>{'bc7'}");
  EXPECT_EQ(Parsed("tag(format, \"12\")"), "tag<format>{'12'}");
  EXPECT_EQ(Parsed("size(1KiB..2MB)"), "size{1024..2000000}");
  EXPECT_EQ(Parsed("size(1.5MiB.., android)"), "size[android]{1572864..inf}");
  EXPECT_EQ(Parsed("platform(android)"), "platform[android]");
  EXPECT_EQ(Parsed("in_cook()"), "in_cook");
  EXPECT_EQ(Parsed("failed(android, windows)"), "failed[android windows]");
  EXPECT_EQ(Parsed("kind(soft)"), "kind[soft]");
  EXPECT_EQ(Parsed("deps(/Game/a.png)"), "deps(name</Game/a.png>)");
  EXPECT_EQ(Parsed("rdeps(/Game/a.png, kind(hard, soft), platform(pc))"),
            "rdeps(name</Game/a.png>; hard soft; on pc)");
  EXPECT_EQ(Parsed("closure(class(level) and in_cook())"), "closure(and(class[level], in_cook))");
  EXPECT_EQ(Parsed("path_between(/Game/a, \"/Game/b, c\")"),
            "path_between(name</Game/a>, name</Game/b, c>)");
  EXPECT_EQ(Parsed("paths(/Game/a, /Game/b, kind(hard))"),
            "paths(name</Game/a>, name</Game/b>; hard)");
}

TEST(QuerySyntaxTest, OperatorsAndWhatBindsThem) {
  EXPECT_EQ(Parsed("all() or roots() and failed()"), "or(all, and(roots, failed))");
  EXPECT_EQ(Parsed("(all() or roots()) & failed()"), "and(or(all, roots), failed)");
  EXPECT_EQ(Parsed("all() - roots() - failed()"), "minus(all, roots, failed)");
  EXPECT_EQ(Parsed("all() - roots() or failed() + all() | roots()"),
            "or(minus(all, roots), failed, all, roots)");
  EXPECT_EQ(Parsed("not all() and not not roots()"), "and(not(all), not(not(roots)))");
  EXPECT_EQ(Parsed("class(a)-class(b)"), "minus(class[a], class[b])");
}

TEST(QuerySyntaxTest, NamesEndWhereAnOperandFollows) {
  EXPECT_EQ(Parsed("/Game/a b/c.png"), "name</Game/a b/c.png>");
  EXPECT_EQ(Parsed("/Game/a.png or /Game/b.png"), "or(name</Game/a.png>, name</Game/b.png>)");
  EXPECT_EQ(Parsed("/Game/a or roots ()"), "or(name</Game/a>, roots)");
  EXPECT_EQ(Parsed("/Game/rock and roll.png"), "name</Game/rock and roll.png>");
  EXPECT_EQ(Parsed("/Game/rock and roll.png and all()"), "and(name</Game/rock and roll.png>, all)");
  EXPECT_EQ(Parsed("/Game/a - b.png - /Game/c.png"),
            "minus(name</Game/a - b.png>, name</Game/c.png>)");
  EXPECT_EQ(Parsed("\"/Game/a)\\\"\\\\.png\" or (/Game/b.png)"),
            "or(name</Game/a)\"\\.png>, name</Game/b.png>)");
}

TEST(QuerySyntaxTest, ErrorsNameTheirColumn) {
  EXPECT_EQ(Parsed(""), "1: expected a package, a function or ( here");
  EXPECT_EQ(Parsed("all("), "5: expected a word here");
  EXPECT_EQ(Parsed("all() or"), "9: expected a package, a function or ( here");
  EXPECT_EQ(Parsed("(all()"), "1: this ( is never closed");
  EXPECT_EQ(Parsed("all())"), "6: there is no ( for this )");
  EXPECT_EQ(Parsed("all() roots()"), "7: expected `and`, `or`, `-` or the end");
  EXPECT_EQ(Parsed("all"), "4: expected ( behind `all`: all()");
  EXPECT_EQ(Parsed("all(x)"), "1: expected all()");
  EXPECT_EQ(Parsed("all() and \"/Game"), "11: this \" is never closed");
  EXPECT_TRUE(Parsed("all() and clas(x)").starts_with("11: `clas` is none of the functions all, "));
  EXPECT_TRUE(Parsed("Game/a.png").starts_with("1: `Game` is none of the functions"));
  EXPECT_TRUE(Parsed("*.png").starts_with("1: expected a package, which begins with /"));
  EXPECT_EQ(Parsed("kind(hard, weak)"),
            "12: `weak` is no kind: hard, soft, editor, generated or build");
  EXPECT_TRUE(Parsed("size(large)").starts_with("6: expected a size such as"));
  EXPECT_TRUE(Parsed("deps()").starts_with("6: expected a package"));
  EXPECT_TRUE(Parsed("paths(/a)").starts_with("1: too few sets"));
  EXPECT_TRUE(Parsed("deps(/a, /b)").starts_with("10: expected one kind(...) and one platform"));
  EXPECT_TRUE(Parsed("deps(/a, kind(hard), kind(soft))").starts_with("22: expected one kind(...)"));
  EXPECT_TRUE(Parsed("tag(width, 9..5)").starts_with("12: expected a range of numbers"));
  EXPECT_TRUE(Parsed("size(9..5)").starts_with("6: expected a size"));
  EXPECT_TRUE(Parsed("/Game/a.png and clas(x)").starts_with("17: `clas` is none of the functions"));
  EXPECT_TRUE(Parsed(std::string(70'000, ' ')).starts_with("1: the query is longer"));
}

TEST(QuerySyntaxTest, DeepQueriesEndAndLongListsDoNot) {
  for (const char* open : {"(", "not ", "closure("}) {
    std::string deep;
    for (int i = 0; i < 5'000; ++i) deep += open;
    EXPECT_TRUE(Parsed(deep).ends_with("nested more than 200 deep")) << open;
  }
  std::string turns = "all()";
  for (int i = 0; i < 1'000; ++i) turns += " - all() or all()";
  EXPECT_TRUE(Parsed(turns).ends_with("nested more than 200 deep"));
  // A level of parentheses adds to the height of what it holds.
  std::string held(199, '(');
  held += "all()";
  for (int level = 199; level >= 0; --level) {
    for (int i = level; i < 200; ++i) held += i % 2 == 0 ? " - all()" : " or all()";
    if (level > 0) held += ")";
  }
  EXPECT_TRUE(Parsed(held.substr(0, 60'000)).ends_with("nested more than 200 deep"));
  std::string terms = "all() and roots()";
  for (int i = 0; i < 1'000; ++i) terms += " or all() and roots()";
  EXPECT_TRUE(std::holds_alternative<QueryNode>(ParseQuery(terms)));
  const std::string spaces = "/Game/a" + std::string(60'000, ' ');
  EXPECT_EQ(Parsed(spaces), "name</Game/a>");
  std::string names = "/Game/0";
  for (int i = 1; i < 3'000; ++i) names += fmt::format(" or /Game/{}", i);
  const auto parsed = ParseQuery(names);
  ASSERT_TRUE(std::holds_alternative<QueryNode>(parsed));
  EXPECT_EQ(std::get<QueryNode>(parsed).operands.size(), 3'000u);
}

TEST(QuerySyntaxTest, TheColumnIsPointedAt) {
  const std::string query = "class(größe) and clas(x)";
  const auto parsed = ParseQuery(query);
  ASSERT_TRUE(std::holds_alternative<QueryError>(parsed));
  const std::string shown = ShowQueryError(query, std::get<QueryError>(parsed));
  EXPECT_TRUE(shown.ends_with("\n  class(größe) and clas(x)\n                   ^")) << shown;
}

}  // namespace
}  // namespace galley::director
