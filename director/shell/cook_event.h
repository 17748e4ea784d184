// CookEvent: one event of a cook, as a value, which goes to the terminal, the summary, the wire and
// the log (CookEvent of director.proto).
//
// Threads: none; a value. The owner of a CookEventSink says from which thread events come.
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
#include "director/core/effects.h"
#include "director/shell/result_table.h"

namespace galley::director {

struct CookEvent {
  // Said: a line for people, such as "staged windows: 3 written".
  struct Said {
    std::string text;
    // Shown even where no other event is: the cook waits for something.
    bool is_always_told = false;
  };
  // Scanned: the files were looked at.
  struct Scanned {
    size_t files = 0;
    size_t packages = 0;
    size_t unmatched = 0;  // files that no rule matches
    double seconds = 0;
    // The number of paths that were looked at, when the ask named them (CookAsk::changed).
    std::optional<uint64_t> listed = std::nullopt;
  };
  // Stands: packages stand since an earlier cook of the same ask; no event tells of one such
  // package.
  struct Stands {
    uint64_t packages = 0;  // in the cook
    uint64_t failed = 0;    // of these packages
    uint64_t results = 0;   // pairs of package and platform that are done
    double seconds = 0;     // time spent to find out
    bool is_rest = false;   // other packages were looked at
  };
  // Failed: a package failed. No package: something else failed. No platform: every platform
  // failed.
  struct Failed {
    std::string package;
    std::string platform;
    PackageFailed failure;
  };
  struct Warned {
    std::string package;
    std::string platform;
    record::Warning warning;
    // True only of this moment: a second cook of the same files would not warn.
    bool is_passing = false;
  };
  // Done: a package has a result. The event takes back a failure of the package on that platform.
  struct Done {
    StoredResultPtr result;  // from another process: holds only the package and the platform
    ResultSource source = ResultSource::kCooked;
  };
  // Left: the package is no longer in the cook: the event takes back everything told of the
  // package.
  struct Left {
    std::string package;
  };
  // Platforms: the platforms of the cook by name. The event comes first, and again when an edited
  // galley.toml has other platforms. The event takes back everything told of platforms not in the
  // list.
  struct Platforms {
    std::vector<std::string> names;
  };
  // Progressed: only the newest progress matters.
  struct Progressed {
    Counters counters;
    Progress progress;
    // RemoteDown of the director; empty: unknown, or the remote is not down
    std::string remote_down;
  };

  std::variant<Said, Scanned, Stands, Failed, Warned, Done, Left, Platforms, Progressed> what;
};

// CookEventSink: takes the events of a cook, or of a director that opens or closes, in order.
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
  // Adds a warning that concerns no package.
  void Warn(record::WarningKind kind, std::string_view text) {
    Tell(CookEvent::Warned{"", "", {kind, std::string(text)}});
  }
  // Adds a warning of this moment that concerns no package.
  void WarnInPassing(record::WarningKind kind, std::string_view text) {
    Tell(CookEvent::Warned{"", "", {kind, std::string(text)}, /*is_passing=*/true});
  }
};

}  // namespace galley::director
