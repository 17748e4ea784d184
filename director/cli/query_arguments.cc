#include <string>

#include "director/cli/add_commands.h"
#include "director/cli/commands.h"

namespace galley::cli {
namespace {

constexpr const char* kQueryFooter = R"(EXPR is a set of packages:
  all()  roots()  /Game/a.png  path(GLOB)  class(texture)  tag(width, 512..)  size(1MiB..)
  platform(android)  in_cook()  failed()  kind(soft)
  deps(X)  rdeps(X): what X refers to, and what refers to X, directly and without X
  closure(X): X and all that it reaches    paths(A, B)  path_between(A, B)
  and or not, A - B, (...). docs/registry.md has the language.
galley query 'rdeps(/Game/textures/brick.png)'
galley query 'class(texture) and path(/Game/props/**)' --sort size)";

}  // namespace

void AddQuery(CLI::App& app, Arguments& arguments) {
  GlobalOptions& global = arguments.global;
  QueryOptions& query = arguments.query;
  CLI::App& command =
      *AddCommand(app, arguments, "query",
                  "Ask which packages there are, what refers to them and how large they are",
                  [&] { return RunQuery(global, query); });
  AddOption(command, "expression EXPR", query.text, "The packages that are asked for")->required();
  command
      .add_option(
          "--columns", query.columns,
          "Of users (that refer to it directly), size, and retained (what would go with it): "
          "users,size")
      ->delimiter(',')
      ->check(CLI::IsMember({"users", "size", "retained"}));
  command.add_option("--sort", query.sort, "By name, or by a column, the largest first (name)")
      ->check(CLI::IsMember({"name", "users", "size", "retained"}));
  AddOption(command, "--limit N", query.limit, "Show only the first N packages");
  AddOption(command, "--platform NAME", query.platform,
            "References, tags and sizes of this platform only");
  command.add_flag(
      "--all", query.is_all,
      "Also what no cook follows: references of editors, packages that are never cooked");
  command.add_flag("--on-disk", query.is_on_disk,
                   "As the last cook left it, also where a director runs");
  command.add_flag("--dot", query.is_dot, "Print the packages and their references for Graphviz");
  NotYet(command, {.flags = {}, .with_value = {"--root"}}, global, arguments.action);
  command.footer(kQueryFooter);
}

}  // namespace galley::cli
