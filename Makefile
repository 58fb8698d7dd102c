# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# What a person types. Kbuild has the module's own build; the checks are
# scripts, each of which also works alone.

# Looked for only where it is wanted, and once.
ifndef KDIR
KDIR = $(eval KDIR := $(shell scripts/find-kdir.sh))$(KDIR)
endif
QEMU := tools/testing/qemu

# Without a vmlinux there is no BTF for modules, nor need kbuild mention it.
BTF = $(if $(wildcard $(KDIR)/vmlinux),,CONFIG_DEBUG_INFO_BTF_MODULES=)
KBUILD = $(MAKE) -C "$(KDIR)" M="$(CURDIR)" $(BTF)

# Options of this make (W=1, C=2, V=1 ...) reach the kernel's by themselves.
modules:
	+$(KBUILD) modules

modules_install: modules
	+$(KBUILD) INSTALL_MOD_DIR=updates modules_install

clean:
	+$(KBUILD) clean

# A module of its own, which needs nothing of the one above.
HWSIM := drivers/infiniband/sw/ib_hwsim
ib_hwsim:
	+$(MAKE) -C $(HWSIM) KDIR="$(KDIR)" modules

ib_hwsim-clean:
	+$(MAKE) -C $(HWSIM) KDIR="$(KDIR)" clean

help:
	@echo 'The module, against KDIR (now: $(KDIR))'
	@echo '  make                  build drivers/infiniband/umad/ib_umad.ko'
	@echo '  make modules_install  install it to updates/, before the in-tree one'
	@echo '  make clean            remove what was built'
	@echo '  make dkms-install     have DKMS build and install it ...'
	@echo '  make dkms-remove      ... and take it away again, all versions of it'
	@echo 'Packages, in ~/.cache/ib-umad/packages or PACKAGES=directory'
	@echo '  make dist             a tarball, which builds without git'
	@echo '  make deb              ib-umad-dkms and ib-hwsim-dkms for Debian and Ubuntu'
	@echo '  make rpm              the same as RPMs'
	@echo 'The simulated RDMA device, against KDIR; it needs no ib_umad'
	@echo '  make ib_hwsim         build $(HWSIM)/ib_hwsim.ko'
	@echo '  make ib_hwsim-clean   remove what was built'
	@echo '  make check-hwsim      its KUnit suites and tests, in guests'
	@echo 'See it run'
	@echo '  make demo             real programs in a guest, with a transcript'
	@echo '  make demo-fabric      OpenSM brings up an InfiniBand fabric of 500 nodes'
	@echo '  make bench            single MADs, next to in-tree'
	@echo '  make profile          instructions of a write(), by function, next to in-tree'
	@echo '  make bench-rmpp       long messages over a bad wire, next to in-tree'
	@echo 'Documentation'
	@echo '  make htmldocs         build it as HTML in ~/.cache/ib-umad/htmldocs'
	@echo 'Checks (install what they need; kernels are kept in ~/.cache/ib-umad)'
	@echo '  make check            all of the following'
	@echo '  make check-static     gcc, sparse, checkpatch, kernel-doc, shellcheck, Sphinx'
	@echo '  make check-dkms       DKMS, in a temporary directory'
	@echo '  make check-dist       the tarball and the packages; lintian, rpmlint'
	@echo '  make check-kunit      the KUnit suites, in a guest'
	@echo '  make check-qemu       the harness and every plan, in guests'
	@echo 'Not part of make check'
	@echo '  make fuzz             each target of libFuzzer for FUZZ_SECONDS=60'
	@echo '  make soak             all plans soak-*, then 30 minutes of mixed load'
	@echo '                        (SOAK_SECONDS=N: so many seconds instead); takes hours'
	@echo '  make acceptance       programs of Debian 12 and 13, both modules, as a table'
	@echo '  make check-kernels    builds and plans on all newer kernels; takes more than an hour'
	@echo '  make check-packages   the packages in roots of Debian 12 and 13; takes minutes'
	@echo '  make check-kcsan      races and stress on a kernel with KCSAN'
	@echo '  make mutants          which tests notice small faults of the driver; takes hours'
	@echo 'One guest: see $(QEMU)/README.rst'

dkms-install dkms-remove:
	scripts/install-deps.sh dkms
	scripts/dkms.sh $(@:dkms-%=%)

dist:
	@scripts/dist.sh $(PACKAGES)

deb rpm:
	@scripts/install-deps.sh $@
	@scripts/$@/build.sh $(PACKAGES)

check:
	@scripts/check.sh deps kernels static+dkms+dist+fuzz+harness plans

check-static check-dkms check-dist check-kunit check-hwsim:
	@scripts/check.sh deps kernels $(@:check-%=%)

check-qemu:
	@scripts/check.sh deps kernels harness plans

# make check has a part of them.
check-kernels:
	@scripts/install-deps.sh kernels
	@scripts/check.sh deps kernels builds newer others

# Another seed each time, which it prints.
fuzz:
	@scripts/install-deps.sh check
	@tools/testing/fuzz/fuzz.py --seconds $(or $(FUZZ_SECONDS),60) --seed 0

# Wants the network, for Debian's packages, the first time.
check-packages:
	@scripts/install-deps.sh packages
	@scripts/check-packages.sh

# Hours, for all of them; it goes on where it was stopped.
mutants:
	@scripts/install-deps.sh check
	@tools/testing/mutants/mutants.py --jobs $(or $(MUTANTS_JOBS),1) \
		$(if $(MUTANTS_TIERS),--tiers $(MUTANTS_TIERS)) \
		$(if $(MUTANTS_SAMPLE),--sample $(MUTANTS_SAMPLE)) \
		$(foreach pattern,$(MUTANTS),'$(pattern)')

demo:
	@scripts/demo.sh

demo-fabric:
	@scripts/demo-fabric.sh

htmldocs:
	@scripts/install-deps.sh docs
	@scripts/htmldocs.sh

# Data races, on a kernel that looks for them.
check-kcsan:
	@scripts/install-deps.sh check
	@scripts/kernel-cache.sh kcsan-6.1
	@tools/testing/qemu/run.py kcsan

bench:
	@scripts/install-deps.sh check
	@scripts/kernel-cache.sh stock-6.1 >/dev/null
	@$(QEMU)/run.py --show bench-write bench-scale bench-hwsim

# By function: LOAD is write, trip, open or expire, DEVICE rxe0 or hwsim0.
profile:
	@scripts/install-deps.sh check
	@scripts/kernel-cache.sh stock-6.1 >/dev/null
	@tools/testing/profile/profile.py $(or $(LOAD),write) --device $(or $(DEVICE),rxe0)

bench-rmpp:
	@tools/testing/bench/bench-rmpp.sh

acceptance:
	@scripts/install-deps.sh acceptance
	@tools/testing/qemu/acceptance.py

soak:
	@scripts/soak.sh $(SOAK_SECONDS)

.PHONY: modules modules_install clean help dkms-install dkms-remove \
	dist deb rpm check-packages check-dist \
	check check-static check-dkms check-kunit check-qemu check-hwsim check-kernels demo \
	demo-fabric acceptance bench bench-rmpp profile fuzz soak mutants check-kcsan ib_hwsim ib_hwsim-clean \
	htmldocs
