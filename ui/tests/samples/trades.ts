// How each sample is run: the project it belongs into, made as its maker says, and the text put where the page says. The text itself
// is never touched.
import { cpSync, existsSync, readFileSync } from 'node:fs'
import { Unfetched, Workshop, type Run } from './workshop'

export interface Copied {
  /** Null for a command line. */
  file: string | null
  text: string
}

export interface Trade {
  /** Programs that must be on the PATH. */
  needs: string[]
  /** Fetches or compiles, so it is part of the long form only. */
  slow?: boolean
  run: (shop: Workshop, copied: Copied[]) => Promise<Run>
}

const command = async (shop: Workshop, copied: Copied[]): Promise<Run> => {
  const last = copied.findLast(({ file }) => file === null)
  if (!last) throw new Error('There is no command line among what was copied.')
  return shop.paste(last.text, 300)
}

function put(shop: Workshop, copied: Copied[]): void {
  for (const { file, text } of copied) if (file) shop.write(file, text)
}

/** What comes later holds in Python and Ruby: the text goes to the end of the file. */
function append(shop: Workshop, name: string, copied: Copied[]): void {
  shop.write(name, readFileSync(shop.at(name), 'utf8') + '\n' + copied.map(({ file, text }) => (file ? text : '')).join(''))
}

/** Settings of the same name are replaced, as a person would. */
function replace(shop: Workshop, name: string, copied: Copied[]): void {
  const text = copied.map(({ file, text }) => (file ? text : '')).join('')
  const names = new Set(text.split('\n').map((line) => line.split('=')[0]))
  const kept = existsSync(shop.at(name)) ? readFileSync(shop.at(name), 'utf8').split('\n') : []
  shop.write(name, [...kept.filter((line) => !names.has(line.split('=')[0] ?? '') || line === ''), text].join('\n'))
}

/** A project that is made once; each run has a copy. */
async function project(shop: Workshop, name: string, mark: string, make: (kept: Workshop) => Promise<void>): Promise<void> {
  const kept = new Workshop(name)
  kept.env = shop.env
  kept.path.push(...shop.path)
  if (!kept.has(mark)) {
    kept.remove()
    await make(new Workshop(name))
  }
  cpSync(kept.folder, shop.folder, { recursive: true, verbatimSymlinks: true })
}

/** A Python of its own, with packages. */
export async function venv(name: string, ...packages: string[]): Promise<string> {
  const kept = new Workshop(`venv-${name}`)
  if (!kept.has('done')) {
    await kept.must('python3', ['-m', 'venv', '.'])
    await kept.fetch('bin/pip', ['install', '--quiet', '--disable-pip-version-check', ...packages])
    kept.write('done', '')
  }
  return kept.at('bin')
}

const composer = async (shop: Workshop, ...words: string[]): Promise<void> => {
  shop.env = { COMPOSER_ALLOW_SUPERUSER: '1' }
  await shop.fetch('composer', ['--no-interaction', ...words])
}

/** Where Debian puts Symfony's parts: without an application, they still read the copied settings and send by them. */
/** Said by such a run. */
export const ALONE = 'settings alone, the command needs an application that could not be fetched'
const SYMFONY = '/usr/share/php/Symfony/Component'
function settingsAlone(shop: Workshop, copied: Copied[]): Promise<Run> {
  put(shop, copied)
  const [, to = ''] = /mailer:test (\S+)/.exec(copied.at(-1)?.text ?? '') ?? []
  shop.write('send.php', `<?php
require '${SYMFONY}/Dotenv/autoload.php';
require '${SYMFONY}/Mailer/autoload.php';
(new Symfony\\Component\\Dotenv\\Dotenv())->load('.env.local');
$mail = (new Symfony\\Component\\Mime\\Email())->from('me@example.com')->to($argv[1])->subject('Hello')->text('It works.');
(new Symfony\\Component\\Mailer\\Mailer(Symfony\\Component\\Mailer\\Transport::fromDsn($_ENV['MAILER_DSN'])))->send($mail);
`)
  return shop.run('php', ['send.php', to]).then(({ code, output }) => ({ code, output: `${output}${ALONE}` }))
}

const POM = `<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <parent><groupId>org.springframework.boot</groupId><artifactId>spring-boot-starter-parent</artifactId><version>3.5.0</version></parent>
  <groupId>hello</groupId><artifactId>hello</artifactId><version>1</version>
  <properties><java.version>17</java.version></properties>
  <dependencies><dependency><groupId>org.springframework.boot</groupId><artifactId>spring-boot-starter-mail</artifactId></dependency></dependencies>
  <build><plugins><plugin><groupId>org.springframework.boot</groupId><artifactId>spring-boot-maven-plugin</artifactId></plugin></plugins></build>
</project>
`

export const TRADES: Record<string, Trade> = {
  curl: { needs: ['curl'], run: command },
  swaks: { needs: ['swaks'], run: command },
  node: {
    needs: ['node'],
    run: (shop, copied) => {
      shop.link()
      put(shop, copied)
      return shop.run('node', ['hello.mjs'])
    },
  },
  python: {
    needs: ['python3'],
    run: (shop, copied) => (put(shop, copied), shop.run('python3', ['hello.py'])),
  },
  django: {
    needs: ['python3'], slow: true,
    run: async (shop, copied) => {
      shop.path.push(await venv('django', 'django'))
      await shop.must('django-admin', ['startproject', 'trial', '.'])
      append(shop, 'trial/settings.py', copied)
      return command(shop, copied)
    },
  },
  laravel: {
    needs: ['php', 'composer'], slow: true,
    run: async (shop, copied) => {
      await project(shop, 'laravel', 'artisan', (kept) => composer(kept, 'create-project', 'laravel/laravel', '.'))
      replace(shop, '.env', copied)
      return command(shop, copied)
    },
  },
  symfony: {
    needs: ['php', 'composer'], slow: true,
    run: async (shop, copied) => {
      try {
        await project(shop, 'symfony', 'composer.lock', async (kept) => {
          await composer(kept, 'create-project', 'symfony/skeleton', '.')
          await composer(kept, 'require', 'symfony/mailer')
        })
      } catch (fault) {
        if (fault instanceof Unfetched && existsSync(`${SYMFONY}/Mailer/autoload.php`)) return settingsAlone(shop, copied)
        throw fault
      }
      put(shop, copied)
      return command(shop, copied)
    },
  },
  rails: {
    needs: ['ruby', 'rails', 'bundle'], slow: true,
    run: async (shop, copied) => {
      const less = ['listen', 'bundle', 'git', 'active-record', 'sprockets', 'bootsnap', 'puma'].map((part) => `--skip-${part}`)
      await shop.must('rails', ['new', '.', '--minimal', '--quiet', ...less])
      // The smallest application has no mailer; one that sends mail has.
      const application = readFileSync(shop.at('config/application.rb'), 'utf8')
      shop.write('config/application.rb', application.replace('# require "action_mailer/railtie"', 'require "action_mailer/railtie"'))
      shop.write('Gemfile', "source 'https://rubygems.org'\ngem 'rails'\n")
      append(shop, 'config/environments/development.rb', copied)
      return command(shop, copied)
    },
  },
  spring: {
    needs: ['java', 'mvn'], slow: true,
    run: (shop, copied) => {
      shop.write('pom.xml', POM)
      put(shop, copied)
      return shop.run('mvn', ['--quiet', '--batch-mode', 'spring-boot:run'], 600)
    },
  },
  dotnet: {
    needs: ['dotnet'], slow: true,
    run: async (shop, copied) => {
      await shop.must('dotnet', ['new', 'console', '--output', '.', '--name', 'hello'])
      await shop.fetch('dotnet', ['add', 'package', 'MailKit'])
      put(shop, copied)
      return shop.run('dotnet', ['run'], 300)
    },
  },
  go: {
    needs: ['go'], slow: true,
    run: (shop, copied) => (put(shop, copied), shop.run('go', ['run', 'main.go'], 300)),
  },
  rust: {
    needs: ['cargo'], slow: true,
    run: async (shop, copied) => {
      shop.env = { CARGO_TARGET_DIR: new Workshop('cargo').folder }
      await shop.must('cargo', ['init', '--name', 'hello', '--vcs', 'none'])
      await shop.fetch('cargo', ['add', '--quiet', 'lettre', '--no-default-features', '--features', 'builder,smtp-transport'])
      put(shop, copied)
      return shop.run('cargo', ['run', '--quiet'], 600)
    },
  },
  compose: {
    needs: ['docker'], slow: true,
    run: async (shop, copied) => {
      put(shop, copied)
      const { code } = await shop.paste('docker info && docker compose version')
      if (code !== 0) throw new Unfetched('no Docker with Compose answers here')
      return shop.paste('docker compose up --abort-on-container-exit', 300)
    },
  },
}
