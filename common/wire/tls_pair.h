// TlsPair: the server's certificate and key as they are in force: what the files held when they
// last belonged together. A pair that cannot be used (empty, garbage, replaced by half) never gets
// to gRPC, which ends the process over some and takes no connection over others.
// Threads: any.
#pragma once

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/mutex.h"

namespace galley::wire {

struct TlsFiles {
  std::string certificate;  // the server's chain; "": no TLS
  std::string key;
  std::string ca;  // of clients' certificates; "": they show none
};

struct TlsTexts {
  std::string certificate, key, ca;  // PEM; `ca` "": clients show none
  absl::Time end;                    // of the certificate
};

// Reads the files. INVALID_ARGUMENT: a part of what belongs together is missing, or a file does not
// hold what it should: certificates, the first one's key. Others as ReadFile.
absl::StatusOr<TlsTexts> ReadTlsFiles(const TlsFiles& files);

class TlsPair {
 public:
  // `more_roots`: PEM: authorities of clients' certificates beside those of the file.
  TlsPair(TlsFiles files, TlsTexts texts, std::string more_roots = "")
      : files_(std::move(files)), more_roots_(std::move(more_roots)), texts_(std::move(texts)) {}

  // True: the files hold another pair, which is in force from here on. An error, told once: what
  // they hold now cannot be used, the one before stays in force.
  absl::StatusOr<bool> Look();
  // Once for each pair: the one in force has expired. For people; nullopt: there is nothing to say.
  std::optional<std::string> TellExpired(absl::Time now);
  // PEM: of the pair in force; without `more_roots`.
  std::string authority() const {
    base::MutexLock lock(mutex_);
    return texts_.ca;
  }
  // The pair in force, unless its number is `seen`, which becomes its number. The first is 1.
  std::optional<TlsTexts> NewerThan(uint64_t& seen) const;

 private:
  const TlsFiles files_;
  const std::string more_roots_;
  mutable base::Mutex mutex_;
  TlsTexts texts_ GALLEY_GUARDED_BY(mutex_);
  uint64_t number_ GALLEY_GUARDED_BY(mutex_) = 1;
  uint64_t told_expired_ GALLEY_GUARDED_BY(mutex_) = 0;  // its number
  std::string problem_ GALLEY_GUARDED_BY(mutex_);        // that was told; "": none
};

}  // namespace galley::wire
