// TreeCommands: roots, tree, diff, checkout: the cooked trees in the store, and session trees.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "absl/time/clock.h"
#include "common/base/counted.h"
#include "common/base/file.h"
#include "common/base/human_bytes.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/content/name.h"
#include "common/store/interface/pins.h"
#include "common/store/local/layout.h"
#include "common/tree/linked_tree.h"
#include "common/tree/tree.h"
#include "director/cli/commands.h"
#include "director/cli/interrupt.h"
#include "director/cli/open_store.h"
#include "director/cli/print_line.h"
#include "director/host/near_names.h"
#include "director/stage/checkout.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace galley::cli {
namespace {

tree::ReadBlob Reader(store::Store& store) {
  return [&store](const Digest& digest) { return store.Get(digest); };
}

const char* NameOf(tree::Difference::Kind kind) {
  static constexpr const char* kNames[] = {"added", "removed", "changed", "renamed"};
  return kNames[static_cast<int>(kind)];
}

void PrintDifference(const GlobalOptions& options, const tree::Difference& one) {
  const bool has_before = one.kind != tree::Difference::Kind::kAdded;
  const bool has_after = one.kind != tree::Difference::Kind::kRemoved;
  const bool is_renamed = one.kind == tree::Difference::Kind::kRenamed;
  if (!options.json) {
    PrintLine("{:<8} {}{} ({} -> {})", NameOf(one.kind), is_renamed ? one.before.path + " -> " : "",
              one.path(), has_before ? std::to_string(one.before.digest.size_bytes()) : "-",
              has_after ? std::to_string(one.after.digest.size_bytes()) : "-");
    return;
  }
  nlohmann::json line = {{"kind", NameOf(one.kind)}, {"path", one.path()}};
  if (is_renamed) line["from"] = one.before.path;
  if (has_before) {
    line["before"] = one.before.digest.ToString();
    line["size_before"] = one.before.digest.size_bytes();
    line["executable_before"] = one.before.is_executable;
  }
  if (has_after) {
    line["after"] = one.after.digest.ToString();
    line["size_after"] = one.after.digest.size_bytes();
    line["executable_after"] = one.after.is_executable;
  }
  PrintJson(line);
}

void PrintDifference(const GlobalOptions& options, const tree::LinkDifference& one) {
  const bool has_before = one.kind != tree::Difference::Kind::kAdded;
  const bool has_after = one.kind != tree::Difference::Kind::kRemoved;
  if (!options.json) {
    PrintLine("{:<8} {} -> {}{}", NameOf(one.kind), one.path(),
              has_after ? one.after.target : one.before.target,
              has_before && has_after ? fmt::format(" (was {})", one.before.target) : "");
    return;
  }
  nlohmann::json line = {{"kind", NameOf(one.kind)}, {"path", one.path()}};
  if (has_before) line["target_before"] = one.before.target;
  if (has_after) line["target_after"] = one.after.target;
  PrintJson(line);
}

void PrintEntry(const GlobalOptions& options, const tree::TreeFile& file) {
  if (options.json) {
    PrintJson({{"path", file.path},
               {"digest", file.digest.ToString()},
               {"executable", file.is_executable}});
  } else {
    PrintLine("{} {:>10} {}{}", file.digest.hex().substr(0, 16), file.digest.size_bytes(),
              file.path, file.is_executable ? "*" : "");
  }
}

void PrintEntry(const GlobalOptions& options, const tree::TreeLink& link) {
  if (options.json) {
    PrintJson({{"path", link.path}, {"target", link.target}});
  } else {
    PrintLine("{:<16} {:>10} {} -> {}", "link", "-", link.path, link.target);
  }
}

const std::string& PathOf(const tree::TreeFile& file) { return file.path; }
const std::string& PathOf(const tree::TreeLink& link) { return link.path; }
template <typename Changed>
const std::string& PathOf(const Changed& difference) {
  return difference.path();
}

// Visits the elements of two lists, both sorted by path, in the order of their paths.
void ForEachByPath(const auto& files, const auto& links, const auto& visit) {
  auto file = files.begin();
  auto link = links.begin();
  while (file != files.end() || link != links.end()) {
    if (link == links.end() || (file != files.end() && PathOf(*file) < PathOf(*link))) {
      visit(*file++);
    } else {
      visit(*link++);
    }
  }
}

tree::DifferenceTotals TotalsOf(const std::vector<tree::Difference>& files,
                                const std::vector<tree::LinkDifference>& links) {
  tree::DifferenceTotals totals = tree::TotalsOf(files);
  for (const tree::LinkDifference& link : links) {
    if (link.kind == tree::Difference::Kind::kAdded) ++totals.added;
    if (link.kind == tree::Difference::Kind::kRemoved) ++totals.removed;
    if (link.kind == tree::Difference::Kind::kChanged) ++totals.changed;
  }
  return totals;
}

bool IsInside(const std::string& path, const std::string& folder) {
  std::error_code error;
  return content::IsUnder(std::filesystem::weakly_canonical(path, error).string(),
                          std::filesystem::weakly_canonical(folder, error).string());
}

void PrintTotals(const GlobalOptions& options, const tree::DifferenceTotals& totals) {
  if (options.json) {
    PrintJson({{"kind", "total"},
               {"added", totals.added},
               {"removed", totals.removed},
               {"changed", totals.changed},
               {"renamed", totals.renamed},
               {"size_before", totals.bytes_before},
               {"size_after", totals.bytes_after}});
  } else if (!options.quiet) {
    PrintLine("{} added, {} removed, {} changed, {} renamed: {} -> {}", totals.added,
              totals.removed, totals.changed, totals.renamed, HumanBytes(totals.bytes_before),
              HumanBytes(totals.bytes_after));
  }
}

}  // namespace

int RunRoots(const GlobalOptions& options) {
  auto opened = OpenStoreAndProject(options);
  if (!opened.ok()) return Fail(options, CodeOf(opened.status()), MessageOf(opened.status()));
  const auto roots = opened->store->Roots(opened->project_id);
  if (!roots.ok()) return Fail(options, kInfrastructure, MessageOf(roots.status()));
  for (const store::PublishedRoot& root : *roots) {
    if (root.project_id == store::kPinProject) continue;
    const std::string time = absl::FormatTime(absl::RFC3339_sec, root.time, absl::UTCTimeZone());
    if (options.json) {
      PrintJson({{"project_id", root.project_id},
                 {"platform", root.platform},
                 {"sequence", root.sequence},
                 {"root", root.root.ToString()},
                 {"by_the_book", root.by_the_book},
                 {"time", time}});
    } else {
      PrintLine("{:<16} {}  {}  {}", fmt::format("{}#{}", root.platform, root.sequence), time,
                root.by_the_book ? "book" : "part", root.root.ToString());
    }
  }
  return kDone;
}

int RunTree(const GlobalOptions& options, const std::string& root_text, const std::string& path) {
  auto opened = OpenStoreAndProject(options);
  if (!opened.ok()) return Fail(options, CodeOf(opened.status()), MessageOf(opened.status()));
  const auto root = FindRoot(*opened, root_text);
  if (!root.ok()) return Fail(options, CodeOfRoot(root.status()), MessageOf(root.status()));
  const auto tree = tree::ListLinkedTree(*root, Reader(*opened->store));
  if (!tree.ok()) return Fail(options, kInfrastructure, MessageOf(tree.status()));
  std::string prefix = path;
  while (!prefix.empty() && prefix.front() == '/') prefix.erase(0, 1);
  while (!prefix.empty() && prefix.back() == '/') prefix.pop_back();
  bool found = prefix.empty();
  ForEachByPath(tree->files, tree->links, [&](const auto& entry) {
    if (!prefix.empty() && entry.path != prefix && !entry.path.starts_with(prefix + "/")) return;
    found = true;
    PrintEntry(options, entry);
  });
  if (found) return kDone;
  std::vector<std::string> names;
  ForEachByPath(tree->files, tree->links, [&](const auto& entry) { names.push_back(entry.path); });
  return Fail(options, kUsage,
              fmt::format("{}: no such path in root {}{}", path, root->ToString(),
                          director::NearText(director::NearNames(prefix, names))));
}

int RunDiff(const GlobalOptions& options, const std::string& before_text,
            const std::string& after_text) {
  auto opened = OpenStoreAndProject(options);
  if (!opened.ok()) return Fail(options, CodeOf(opened.status()), MessageOf(opened.status()));
  const auto before = FindRoot(*opened, before_text);
  if (!before.ok()) return Fail(options, CodeOfRoot(before.status()), MessageOf(before.status()));
  const auto after = FindRoot(*opened, after_text);
  if (!after.ok()) return Fail(options, CodeOfRoot(after.status()), MessageOf(after.status()));
  auto found = tree::DiffLinkedTrees(*before, *after, Reader(*opened->store));
  if (!found.ok()) return Fail(options, kInfrastructure, MessageOf(found.status()));
  const std::vector<tree::Difference> files = tree::FindRenames(std::move(found->files));
  ForEachByPath(files, found->links, [&](const auto& one) { PrintDifference(options, one); });
  const bool is_equal = files.empty() && found->links.empty();
  if (options.json || !is_equal) PrintTotals(options, TotalsOf(files, found->links));
  return is_equal ? kDone : kFailed;
}

int RunCheckout(const GlobalOptions& options, const std::string& root_text,
                const std::string& directory, bool link) {
  auto opened = OpenStoreAndProject(options);
  if (!opened.ok()) return Fail(options, CodeOf(opened.status()), MessageOf(opened.status()));
  const auto root = FindRoot(*opened, root_text);
  if (!root.ok()) return Fail(options, CodeOfRoot(root.status()), MessageOf(root.status()));
  director::VerifiedFiles verified;
  const auto info = opened->store->Info();
  if (info.ok() && IsInside(AbsolutePath(directory), info->directory)) {
    return Fail(options, kUsage,
                fmt::format("{} lies in the store, {}: name a folder beside it",
                            AbsolutePath(directory), info->directory));
  }
  const std::string memory =
      link && info.ok() ? store::VerifiedFilesPath(info->directory) : std::string();
  if (!memory.empty()) verified.Load(memory);
  const InterruptWatch interrupts([] {});
  const auto report =
      director::Checkout(*opened->store, *root, AbsolutePath(directory),
                         {.link = link, .verified = &verified, .interrupted = &interrupts.flag()});
  if (!memory.empty()) {
    const absl::Status saved = verified.Save(memory, absl::GetCurrentTimeNanos());
    if (!saved.ok()) LogWarning("verified_files=not_saved reason=\"{}\"", MessageOf(saved));
  }
  if (!report.ok()) {
    const bool is_usage = absl::IsFailedPrecondition(report.status());
    const ExitCode code = absl::IsCancelled(report.status()) ? kInterrupted
                          : is_usage                         ? kUsage
                                                             : kInfrastructure;
    return Fail(options, code, MessageOf(report.status()));
  }
  if (options.json) {
    PrintJson({{"root", root->ToString()},
               {"directory", AbsolutePath(directory)},
               {"files", report->written},
               {"linked", report->linked},
               {"cloned", report->cloned},
               {"symbolic_links", report->symbolic_links},
               {"bytes", report->bytes_written}});
  } else if (!options.quiet) {
    PrintLine(
        "{}: {}, {}{}{}", directory, Counted(report->written, "file"),
        HumanBytes(report->bytes_written),
        link ? fmt::format(", {} linked, {} cloned", report->linked, report->cloned) : "",
        report->symbolic_links == 0 ? "" : ", " + Counted(report->symbolic_links, "symbolic link"));
  }
  return kDone;
}

}  // namespace galley::cli
