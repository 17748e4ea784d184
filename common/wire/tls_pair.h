// TlsPair: the server's certificate and key in force: the contents of the files when they last
// belonged together. A pair that cannot be used (empty, garbage, half replaced) never gets to gRPC,
// which ends the process or takes no more connections over such pairs.
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
  std::string ca;  // authorities of clients; "": clients show no certificate
};

struct TlsTexts {
  std::string certificate, key, ca;  // PEM; `ca` "": clients show no certificate
  absl::Time end;                    // expiry of the certificate
};

// Reads the files. INVALID_ARGUMENT: the certificate or the key is missing, a file has wrong
// contents, or the key is not the first certificate's. Other errors as ReadFile.
absl::StatusOr<TlsTexts> ReadTlsFiles(const TlsFiles& files);

class TlsPair {
 public:
  // `more_roots` (PEM): authorities of clients' certificates beside those in the file.
  TlsPair(TlsFiles files, TlsTexts texts, std::string more_roots = "")
      : files_(std::move(files)), more_roots_(std::move(more_roots)), texts_(std::move(texts)) {}

  // Reads the files again. True: the files hold another pair, which is in force from now on. An
  // error, returned once: the files cannot be used, and the earlier pair stays in force.
  absl::StatusOr<bool> Look();
  // A text for people, once for each pair: the pair in force has expired. nullopt: nothing to say.
  std::optional<std::string> TellExpired(absl::Time now);
  // The authorities (PEM) of the pair in force, without `more_roots`.
  std::string authority() const {
    base::MutexLock lock(mutex_);
    return texts_.ca;
  }
  // The pair in force, unless its number is `seen`; sets `seen` to the number of the pair. The
  // first is 1.
  std::optional<TlsTexts> NewerThan(uint64_t& seen) const;

 private:
  const TlsFiles files_;
  const std::string more_roots_;
  mutable base::Mutex mutex_;
  TlsTexts texts_ GALLEY_GUARDED_BY(mutex_);
  uint64_t number_ GALLEY_GUARDED_BY(mutex_) = 1;
  uint64_t told_expired_ GALLEY_GUARDED_BY(mutex_) = 0;  // number of the pair
  std::string problem_ GALLEY_GUARDED_BY(mutex_);        // the error that was returned; "": none
};

}  // namespace galley::wire
