// Report: shows a cook to a person or a program: a live line on a terminal, plain lines elsewhere,
// JSON events with --json, and the summary (docs/cli.md, "The summary").
//
// Threads: one.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "common/project/cooker_choice.h"
#include "director/cli/global_options.h"
#include "director/cli/grouped_messages.h"
#include "director/cli/terminal.h"
#include "director/shell/active_cook.h"
#include "director/shell/cook_event.h"
#include "nlohmann/json.hpp"

namespace galley::cli {

struct SummaryWarning {
  std::string package;
  std::string platform;
  std::string text;
  std::string kind;  // "texture-block-size": docs/warnings.md
  auto operator<=>(const SummaryWarning&) const = default;
  nlohmann::json ToJson() const;
};

struct SummaryFailure {
  std::string package;
  std::string platform;
  std::string stage;
  std::string error;
  std::string log;
  std::string rule;  // rule that chose the cooker of this verdict: "galley.toml:52"; or empty
  auto operator<=>(const SummaryFailure&) const = default;
  nlohmann::json ToJson() const;
};

struct Summary {
  int exit_code = 0;
  std::string project;
  std::map<std::string, std::string> roots;
  // Sequence numbers of the roots, by platform; may lack some.
  std::map<std::string, uint64_t> sequences;
  std::string snapshot;
  bool listed = false;  // the cook looked only at files of a list
  director::Counters counters;
  bool is_fail_fast = false;    // the cook stopped at the first failure
  bool is_interrupted = false;  // by a person, while there was work
  double total_s = 0, scan_s = 0, explore_s = 0, cook_s = 0, stage_s = 0;
  director::Collections collections;
  uint64_t bytes_stored = 0, bytes_deduplicated = 0, bytes_fetched = 0;
  std::vector<SummaryWarning> warnings;
  std::vector<SummaryFailure> failures;

  nlohmann::json ToJson() const;
  // Returns the text of the --summary file.
  std::string ToText() const;
};

class Report final : public director::CookEventSink {
 public:
  explicit Report(const GlobalOptions& options);
  ~Report() override;

  void TakeEvent(const director::CookEvent& event) override;

  // Returns the live line.
  static std::string TextOf(const director::Counters& counters, const director::Progress& progress,
                            std::string_view remote = {});

  // Prints failures and warnings that were held back to be told together.
  void TellMessages();
  // Ends the live line and prints the outcome of the cook. `has_cooked`: the cook got as far as
  // cooking.
  void Finish(const Summary& summary, bool has_cooked);

  // The platforms of the cook. A failure on all of them is one line for people and one entry for
  // each platform in the summary.
  std::vector<std::string> platforms;
  // Returns who chose the cooker of a package; nothing is known before the scan.
  std::function<std::optional<project::CookerChoice>(const std::string& package)> choice_of =
      [](const std::string&) { return std::nullopt; };
  // Returns the file that a cook of `package` calls `name` (FileOfPlace).
  std::function<std::optional<std::string>(const std::string& package, std::string_view name)>
      file_of_place = [](const std::string&, std::string_view) { return std::nullopt; };
  // The project's rules: which warnings of no package are left out, and which are errors.
  record::WarningRules warning_rules;

  std::vector<SummaryWarning> warnings;
  // Says whether a warning of no package was an error.
  bool has_warning_errors() const { return has_warning_errors_; }
  // Returns the failures that were not taken back, sorted.
  std::vector<SummaryFailure> Failures() const { return {failures_.begin(), failures_.end()}; }

 private:
  void Take(const director::CookEvent::Said& said);
  void Take(const director::CookEvent::Scanned& scan);
  void Take(const director::CookEvent::Stands& counts);
  void Take(const director::CookEvent::Failed& failed);
  void Take(const director::CookEvent::Warned& warned);
  void Take(const director::CookEvent::Done& done);
  void Take(const director::CookEvent::Left& left);
  void Take(const director::CookEvent::Platforms& told);
  void Take(const director::CookEvent::Progressed& progressed);
  void Event(const nlohmann::json& event);
  void ClearLine();
  void Print(const std::vector<std::string>& paragraphs, const char* title, const char* colour);
  std::string WithFileNames(const std::string& package, const std::string& text) const;

  const GlobalOptions& options_;
  // Takes back failures from `at` on while `is` accepts them.
  template <typename Is>
  void TakeBackIf(std::set<SummaryFailure>::iterator at, Is is);

  // Notes: the notes of one kind (record::NoteText).
  struct Notes {
    std::map<std::string, std::string> packages;  // package -> text
    std::set<std::string> fresh;  // packages with results that were cooked, or were in the store
  };
  // Returns true when the warning is a note that waits for the end.
  bool KeepNote(const SummaryWarning& warning, record::WarningKind kind);
  void TellNotes();

  std::map<record::WarningKind, Notes> notes_;
  std::map<std::string, std::vector<record::WarningKind>> noted_;  // by package
  bool has_warning_errors_ = false;
  std::set<SummaryFailure> told_;
  std::set<SummaryFailure> failures_;
  std::set<SummaryFailure> taken_back_;  // told, but no failures any more
  GroupedMessages told_failures_, told_warnings_;
  Terminal terminal_;
  bool line_shown_ = false;
  absl::Time started_;
  absl::Time last_plain_;
  std::string told_on_the_way_;  // OnTheWayText of the last plain line
};

}  // namespace galley::cli
