// CookEvent: one event of a cook, as a value: from where it happens to the terminal, the summary,
// the wire and the log (CookEvent of director.proto).
//
// Threads: none; a value. Whoever owns a CookEventSink says from which thread events come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "common/record/warning.h"
#include "director/core/cook_core.h"
#include "director/core/events.h"
#include "director/shell/result_table.h"

namespace galley::director {

struct CookEvent {
  // A line for people: "staged windows: 3 written".
  struct Said {
    std::string text;
    bool is_always_told = false;  // even where nothing else is: the cook waits for something
  };
  // The files were looked at.
  struct Scanned {
    size_t files = 0;
    size_t packages = 0;
    size_t unmatched = 0;  // files that no rule matches
    double seconds = 0;
    // Only so many paths were looked at (CookAsk::changed), and no others.
    std::optional<uint64_t> listed = std::nullopt;
  };
  // Packages stand since an earlier cook of the same: none of them is told by itself.
  struct Stands {
    uint64_t packages = 0;  // in the cook
    uint64_t failed = 0;    // of these
    uint64_t results = 0;   // (package, platform): all that are done
    double seconds = 0;     // that it took to find out
    bool is_rest = false;   // others were looked at
  };
  // No package: something else failed. No platform: it failed on all.
  struct Failed {
    std::string package;
    std::string platform;
    PackageFailed failure;
  };
  struct Warned {
    std::string package;
    std::string platform;
    record::Warning warning;
    bool is_passing = false;  // of this moment: another cook of the same would not have it
  };
  // A package has a result. A failure of the package on that platform is taken back.
  struct Done {
    StoredResultPtr result;  // from another process: its package and platform only
    ResultSource source = ResultSource::kCooked;
  };
  // The package is in the cook no more: all that was told of it is taken back.
  struct Left {
    std::string package;
  };
  // The platforms of the cook by name: before all else, and when an edited galley.toml has others.
  // What was told of others is taken back.
  struct Platforms {
    std::vector<std::string> names;
  };
  // Only the newest matters.
  struct Progressed {
    Counters counters;
    Progress progress;
    std::string remote_down;  // RemoteDown of the director; empty: not known, or it is not
  };

  std::variant<Said, Scanned, Stands, Failed, Warned, Done, Left, Platforms, Progressed> what;
};

// CookEventSink: takes the events of a cook, or of a director that opens or closes, in their order.
class CookEventSink {
 public:
  virtual ~CookEventSink() = default;
  virtual void TakeEvent(const CookEvent& event) = 0;

  template <typename What>
  void Tell(What what) {
    TakeEvent({std::move(what)});
  }
  void Say(std::string_view text) { Tell(CookEvent::Said{std::string(text)}); }
  void SayAlways(std::string_view text) { Tell(CookEvent::Said{std::string(text), true}); }
  // The warning is about no package.
  void Warn(record::WarningKind kind, std::string_view text) {
    Tell(CookEvent::Warned{"", "", {kind, std::string(text)}});
  }
  // The same, of this moment.
  void WarnInPassing(record::WarningKind kind, std::string_view text) {
    Tell(CookEvent::Warned{"", "", {kind, std::string(text)}, /*is_passing=*/true});
  }
};

}  // namespace galley::director
