// QueryCommand: query: asks the registry of the project for packages and how they lead to each
// other.

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/base/cancellation.h"
#include "common/base/counted.h"
#include "common/base/human_bytes.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "director/cli/commands.h"
#include "director/cli/interrupt.h"
#include "director/cli/print_table.h"
#include "director/cli/query_rows.h"
#include "director/host/near_names.h"
#include "director/host/registry_on_disk.h"
#include "director/registry/registry_query.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "nlohmann/json.hpp"

namespace galley::cli {
namespace {

using director::QueryAnswer;
using director::QueryError;
using director::QueryNode;
using director::QueryOutcome;

constexpr size_t kPathsMax = 1'000;
constexpr size_t kNameWidthMax = 80;

void PrintRows(const QueryRows& rows) {
  std::vector<std::vector<std::string>> lines{{"PACKAGE", "CLASS"}};
  for (const std::string& column : rows.columns()) {
    std::string title = column;
    std::ranges::transform(title, title.begin(), [](unsigned char c) { return std::toupper(c); });
    lines[0].push_back(std::move(title));
  }
  for (const QueryRow& row : rows.rows()) {
    std::vector<std::string> line{std::string(row.package),
                                  row.cooker.empty() ? "-" : std::string(row.cooker)};
    for (const std::string& column : rows.columns()) {
      const uint64_t value = row.ValueOf(column);
      line.push_back(column == "users" ? std::to_string(value) : HumanBytes(value));
    }
    lines.push_back(std::move(line));
  }
  PrintTable(lines, kNameWidthMax);
}

std::string PathLine(const QueryAnswer& answer, const std::vector<QueryAnswer::Number>& path) {
  std::string line;
  for (const QueryAnswer::Number package : path)
    line += (line.empty() ? "" : " -> ") + std::string(answer.table->NameOf(package));
  return line;
}

// Prints one path a line. Returns a note, or nothing.
std::string PrintPaths(const QueryAnswer& answer, const director::RegistryGraph::Paths& found) {
  for (const auto& path : found.paths) std::puts(EscapeControl(PathLine(answer, path)).c_str());
  if (found.paths.empty() && !found.is_cut) return "there is no path";
  return found.is_cut ? "there are more paths: --json or --dot prints all packages on them" : "";
}

void PrintDot(const QueryAnswer& answer, const std::vector<QueryEdge>& edges) {
  const auto quoted = [](std::string_view name) {
    std::string text = "\"";
    for (const char c : name)
      text += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    return text + "\"";
  };
  std::puts("digraph galley {");
  answer.packages.ForEach([&](size_t package) {
    std::puts(
        fmt::format("  {};", quoted(answer.table->NameOf(static_cast<uint32_t>(package)))).c_str());
    return true;
  });
  for (const QueryEdge& edge : edges) {
    const bool is_dashed = edge.kinds.front() != "hard";
    std::puts(fmt::format("  {} -> {}{};", quoted(edge.from), quoted(edge.to),
                          is_dashed ? fmt::format(" [style=dashed, label=\"{}\"]",
                                                  fmt::join(edge.kinds, ", "))
                                    : "")
                  .c_str());
  }
  std::puts("}");
}

// A number without a fraction is shown without one.
nlohmann::json ValueOf(double number) {
  constexpr double kWholeMax = 9e15;
  if (std::trunc(number) == number && std::abs(number) < kWholeMax)
    return static_cast<int64_t>(number);
  return number;
}
nlohmann::json ValueOf(bool is_true) { return is_true; }
nlohmann::json ValueOf(const std::string& text) { return text; }

// A tag that differs by platform is an object of its values by platform.
nlohmann::json TagsOf(const QueryAnswer& answer, QueryAnswer::Number package) {
  const director::RegistryTable& table = *answer.table;
  std::vector<director::RegistryRow::Tag> tags = table.TagsOf(package);
  std::erase_if(tags, [&](const auto& tag) { return (tag.platforms & answer.platforms) == 0; });
  nlohmann::json json = nlohmann::json::object();
  for (const auto& tag : tags) {
    nlohmann::json value = std::visit([](const auto& one) { return ValueOf(one); }, tag.value);
    const auto is_same = [&](const auto& one) { return one.name == tag.name; };
    if (std::ranges::count_if(tags, is_same) == 1) {
      json[tag.name] = std::move(value);
      continue;
    }
    for (size_t p = 0; p < table.platforms().size(); ++p) {
      if ((tag.platforms & answer.platforms) >> p & 1) json[tag.name][table.platforms()[p]] = value;
    }
  }
  return json;
}

nlohmann::json ToJson(const QueryAnswer& answer, const QueryRow& row) {
  const director::RegistryTable& table = *answer.table;
  nlohmann::json tags, references, outputs = nlohmann::json::object();
  const auto names_of = [&](director::PlatformMask mask) {
    nlohmann::json names = nlohmann::json::array();
    for (size_t p = 0; p < table.platforms().size(); ++p) {
      if ((mask >> p & 1) != 0) names.push_back(table.platforms()[p]);
    }
    return names;
  };
  if (row.is_looked_at) {  // else they are not known, and so null
    tags = TagsOf(answer, row.number);
    references = nlohmann::json::array();
    for (const QueryEdge& edge : EdgesOf(answer, row.number))
      references.push_back({{"package", edge.to}, {"kinds", edge.kinds}});
    for (const auto& output : table.OutputsOf(row.number)) {
      if ((answer.platforms >> output.platform & 1) == 0) continue;
      outputs[table.platforms()[output.platform]].push_back(
          {{"suffix", output.suffix}, {"size", output.size}});
    }
  }
  nlohmann::json line = {
      {"package", row.package},
      {"class", row.cooker.empty() ? nlohmann::json() : nlohmann::json(row.cooker)},
      {"looked_at", row.is_looked_at},
      {"generated", table.IsGenerated(row.number)},
      {"in_cook", names_of(table.InCookOf(row.number) & answer.platforms)},
      {"failed", names_of(table.FailedOf(row.number) & answer.platforms)},
      {"tags", std::move(tags)},
      {"references", std::move(references)},
      {"outputs", std::move(outputs)},
  };
  line["size"] = row.size;
  line["users"] = row.users;
  if (row.retained) line["retained"] = *row.retained;
  return line;
}

void PrintGraphJson(const QueryAnswer& answer, const std::vector<QueryEdge>& edges) {
  nlohmann::json packages = nlohmann::json::array(), references = nlohmann::json::array();
  if (answer.shape == QueryAnswer::Shape::kPath) {
    for (const QueryAnswer::Number package : answer.path)
      packages.push_back(answer.table->NameOf(package));
    PrintJson({{"path", std::move(packages)}});
    return;
  }
  answer.packages.ForEach([&](size_t package) {
    packages.push_back(answer.table->NameOf(static_cast<uint32_t>(package)));
    return true;
  });
  for (const QueryEdge& edge : edges)
    references.push_back({{"from", edge.from}, {"to", edge.to}, {"kinds", edge.kinds}});
  PrintJson({{"packages", std::move(packages)}, {"references", std::move(references)}});
}

// An answer ends with how much of it is known, and of which state it is.
void PrintEnd(const GlobalOptions& options, const QueryAnswer& answer, uint64_t bytes,
              const std::vector<std::string>& notes) {
  const size_t packages = answer.packages.size();
  const std::string& world = answer.table->basis().time;
  if (options.json) {
    PrintJson({{"packages", packages},
               {"bytes", bytes},
               {"not_looked_at", answer.not_looked_at},
               {"world", world},
               {"notes", notes}});
    return;
  }
  std::fflush(stdout);
  for (const std::string& note : notes)
    std::fputs(fmt::format("note: {}\n", EscapeControl(note)).c_str(), stderr);
  if (options.quiet) return;
  std::fputs(fmt::format("{}, {}, as of {}; {} not looked at\n", Counted(packages, "package"),
                         HumanBytes(bytes), world, Counted(answer.not_looked_at, "package"))
                 .c_str(),
             stderr);
}

// Printable: all that an answer needs to be printed. Nothing is printed before it is whole.
struct Printable {
  QueryRows rows;
  std::vector<QueryEdge> edges;
  director::RegistryGraph::Paths paths;
};
absl::StatusOr<Printable> PrintableOf(const GlobalOptions& options, const QueryOptions& query,
                                      const QueryAnswer& answer, const Cancellation& stop) {
  ASSIGN_OR_RETURN(QueryRows rows, QueryRows::Of(answer,
                                                 {.columns = query.columns,
                                                  .sort = query.sort,
                                                  .limit = query.limit,
                                                  .has_details = options.json},
                                                 stop));
  Printable printable{.rows = std::move(rows), .edges = {}, .paths = {}};
  const bool is_graph = answer.shape == QueryAnswer::Shape::kGraph;
  if (query.is_dot || (options.json && is_graph)) printable.edges = EdgesAmong(answer, stop);
  if (answer.shape == QueryAnswer::Shape::kPath && !answer.path.empty())
    printable.paths.paths = {answer.path};
  if (is_graph && !query.is_dot && !options.json)
    printable.paths = PathsOf(answer, kPathsMax, stop);
  if (stop.is_cancelled()) return absl::CancelledError("nobody waits");
  RETURN_IF_ERROR(answer.table->Status());
  return printable;
}

void PrintAnswer(const GlobalOptions& options, const QueryOptions& query, const QueryAnswer& answer,
                 const Printable& printable) {
  std::vector<std::string> notes = answer.notes;
  const bool is_set = answer.shape == QueryAnswer::Shape::kSet;
  if (query.is_dot) {
    PrintDot(answer, printable.edges);
  } else if (options.json && is_set) {
    for (const QueryRow& row : printable.rows.rows()) PrintJson(ToJson(answer, row));
  } else if (options.json) {
    PrintGraphJson(answer, printable.edges);
  } else if (is_set) {
    PrintRows(printable.rows);
  } else if (const std::string note = PrintPaths(answer, printable.paths); !note.empty()) {
    notes.push_back(note);
  }
  const size_t shown = printable.rows.rows().size();
  if (is_set && !query.is_dot && shown < answer.packages.size())
    notes.push_back(fmt::format("the first {} of {} are shown", shown,
                                Counted(answer.packages.size(), "package")));
  PrintEnd(options, answer, printable.rows.bytes(), notes);
}

// "there is no package /Game/a.pgn; did you mean /Game/a.png?"
std::string WithNearNames(const QueryNode& node, const director::RegistryTable& table,
                          const QueryError& error) {
  if (node.kind == QueryNode::Kind::kName && node.column == error.column &&
      !table.Find(node.text)) {
    std::vector<std::string> names;
    for (uint32_t package = 0; package < table.size(); ++package)
      names.emplace_back(table.NameOf(package));
    return error.text + director::NearText(director::NearNames(node.text, names));
  }
  for (const QueryNode& operand : node.operands) {
    if (std::string text = WithNearNames(operand, table, error); text != error.text) return text;
  }
  return error.text;
}

}  // namespace

int RunQuery(const GlobalOptions& options, const QueryOptions& query) {
  const auto parsed = director::ParseQuery(query.text);
  if (const auto* const error = std::get_if<QueryError>(&parsed))
    return Fail(options, kUsage, director::ShowQueryError(query.text, *error));
  const auto& node = std::get<QueryNode>(parsed);
  auto project = OpenProject(options);
  if (!project.ok()) return Fail(options, kUsage, MessageOf(project.status()));
  auto registry = director::OpenRegistryOnDisk(*project);
  Cancellation stop;
  const InterruptWatch interrupt([&] { stop.Cancel(); });
  for (bool is_again = false;; is_again = true) {
    if (!registry.ok()) {
      const bool is_usage = absl::IsInvalidArgument(registry.status());
      return Fail(options, is_usage ? kUsage : kInfrastructure,
                  "the registry: " + MessageOf(registry.status()));
    }
    QueryOutcome outcome = director::RunQuery(
        node, registry->table, {.has_unfollowed = query.is_all, .platform = query.platform}, stop);
    if (const auto* const answer = std::get_if<QueryAnswer>(&outcome)) {
      const auto printable = PrintableOf(options, query, *answer, stop);
      if (printable.ok()) {
        PrintAnswer(options, query, *answer, *printable);
        return kDone;
      }
      outcome = printable.status();
    }
    if (const auto* const error = std::get_if<QueryError>(&outcome)) {
      return Fail(options, kUsage,
                  director::ShowQueryError(
                      query.text, {error->column, WithNearNames(node, *registry->table, *error)}));
    }
    const auto& status = std::get<absl::Status>(outcome);
    if (stop.is_cancelled()) return kInterrupted;
    if (absl::IsInvalidArgument(status)) return Fail(options, kUsage, MessageOf(status));
    if (is_again) return Fail(options, kInfrastructure, "the registry: " + MessageOf(status));
    LogWarning("the registry was damaged, and is made anew: {}", MessageOf(status));
    registry = director::RemakeRegistryOnDisk(*project);
  }
}

}  // namespace galley::cli
