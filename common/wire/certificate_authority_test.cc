#include "common/wire/certificate_authority.h"

#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "common/base/certificates.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::wire {
namespace {

constexpr absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);

X509* Read(const std::string& pem) {
  BIO* const reader = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  X509* const certificate = PEM_read_bio_X509(reader, nullptr, nullptr, nullptr);
  BIO_free_all(reader);
  return certificate;
}

// Checks a certificate as a server checks a client's certificate.
bool IsKnownTo(const std::string& authority, const std::string& certificate, absl::Time at) {
  X509 *const root = Read(authority), *const shown = Read(certificate);
  X509_STORE* const store = X509_STORE_new();
  X509_STORE_add_cert(store, root);
  X509_STORE_CTX* const check = X509_STORE_CTX_new();
  X509_STORE_CTX_init(check, store, shown, nullptr);
  X509_STORE_CTX_set_purpose(check, X509_PURPOSE_SSL_CLIENT);
  X509_VERIFY_PARAM_set_time(X509_STORE_CTX_get0_param(check), absl::ToTimeT(at));
  const bool is_known = X509_verify_cert(check) == 1;
  X509_STORE_CTX_free(check);
  X509_STORE_free(store);
  X509_free(root);
  X509_free(shown);
  return is_known;
}

std::string NameIn(const std::string& certificate) {
  X509* const read = Read(certificate);
  char name[64] = {};
  X509_NAME_get_text_by_NID(X509_get_subject_name(read), NID_commonName, name, sizeof(name));
  X509_free(read);
  return name;
}

TEST(CertificateAuthorityTest, GivesCertificatesOfANameAndATime) {
  const auto authority = NewCertificateAuthority(kNow);
  ASSERT_TRUE(authority.ok()) << authority.status();
  const auto made = NewKeyAndRequest();
  ASSERT_TRUE(made.ok()) << made.status();
  const auto given = (*authority)->Issue(made->request, "slurm-3", kNow, absl::Hours(24));
  ASSERT_TRUE(given.ok()) << given.status();
  EXPECT_EQ(NameIn(*given), "slurm-3");
  EXPECT_TRUE(IsOfALaunch(*given));
  EXPECT_FALSE(IsOfALaunch("no certificate"));
  EXPECT_TRUE(CheckKeyPair({.file = "c", .text = *given}, {.file = "k", .text = made->key}).ok());
  EXPECT_TRUE(IsKnownTo((*authority)->certificate(), *given, kNow + absl::Hours(23)));
  EXPECT_FALSE(IsKnownTo((*authority)->certificate(), *given, kNow + absl::Hours(25)));
  const auto other = NewCertificateAuthority(kNow);
  EXPECT_FALSE(IsKnownTo((*other)->certificate(), *given, kNow)) << "each director has its own";
}

TEST(CertificateAuthorityTest, OneThatIsGivenGivesNone) {
  const auto authority = NewCertificateAuthority(kNow);
  const auto given =
      (*authority)->Issue(NewKeyAndRequest()->request, "slurm-3", kNow, absl::Hours(24));
  X509* const read = Read(*given);
  EXPECT_EQ(X509_check_ca(read), 0);
  X509_free(read);
}

TEST(CertificateAuthorityTest, WhatIsNoRequestIsRefused) {
  const auto authority = NewCertificateAuthority(kNow);
  std::string damaged = NewKeyAndRequest()->request;
  damaged[damaged.size() / 2] ^= 1;
  for (const std::string& text : {std::string(), std::string("secret"), damaged,
                                  (*authority)->certificate(), std::string(1 << 20, 'x')})
    EXPECT_EQ((*authority)->Issue(text, "slurm-3", kNow, absl::Hours(24)).status().code(),
              absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace galley::wire
